//! Keeps Mesa from crying wolf.
//!
//! Its layer that chooses a device asks Wayland for it. Where no session has set a runtime folder,
//! on a server or in a container, that library prints "error: XDG_RUNTIME_DIR is invalid or not
//! set" for each instance, as if something had failed.

/// Leaves that layer out where it could only complain, unless it was asked to choose.
///
/// # Safety
/// No other thread of the process may run yet, for none may read the environment meanwhile.
pub unsafe fn quiet() {
    let given = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let asked = ["XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", "NODEVICE_SELECT"];
    if cfg!(target_os = "linux") && !asked.into_iter().any(given) {
        // SAFETY: the caller promises that this is the only thread.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
