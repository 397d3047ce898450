//! What the numbers were measured on.

use crate::math::SimdLevel;
use crate::render::GpuRequest;
use serde::Serialize;

/// The machine and what of it was used.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's own name for itself, or its architecture.
    pub cpu: String,
    /// Worker threads of the run.
    pub threads: usize,
    /// Level of the kernels.
    pub simd: String,
    /// The GPU's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The graphics interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

impl Machine {
    /// This machine, of which no GPU is used.
    pub fn without_gpu(threads: usize, simd: SimdLevel) -> Self {
        let simd = simd.name().to_owned();
        Self { cpu: cpu_name(), threads, simd, adapter: None, backend: None }
    }

    /// This machine, with the adapter that draws nothing.
    pub fn on_noop(threads: usize, simd: SimdLevel) -> Self {
        let noop = Some(GpuRequest::NOOP.to_owned());
        Self { adapter: noop.clone(), backend: noop, ..Self::without_gpu(threads, simd) }
    }
}

/// The processor's brand string (CPUID leaves 0x8000_0002 to 4), or the architecture's name.
pub fn cpu_name() -> String {
    brand().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn brand() -> Option<String> {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::__cpuid;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < 0x8000_0004 {
        return None;
    }
    let words = (0x8000_0002..=0x8000_0004).map(__cpuid);
    let bytes: Vec<u8> = words
        .flat_map(|r| [r.eax, r.ebx, r.ecx, r.edx])
        .flat_map(u32::to_le_bytes)
        .take_while(|&b| b != 0)
        .collect();
    let name = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn brand() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_processor_has_a_name_of_printable_letters() {
        let name = super::cpu_name();
        assert!(!name.is_empty() && name.chars().all(|c| !c.is_control()), "{name:?}");
    }
}
