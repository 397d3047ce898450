//! The `throng` binary: hands over to the library and turns its answer into an exit status.

#[global_allocator]
static ALLOCATOR: throng::app::alloc::CountingAllocator = throng::app::alloc::CountingAllocator;

fn main() -> std::process::ExitCode {
    // SAFETY: the program's first act; nothing has started a thread.
    unsafe { throng::app::mesa::quiet() };
    throng::app::main()
}
