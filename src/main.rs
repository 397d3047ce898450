//! The `throng` binary: hands over to the library and turns its answer into an exit status.

fn main() -> std::process::ExitCode {
    throng::app::main()
}
