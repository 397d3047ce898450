//! Which GPUs there are, and the choice among them.

use std::fmt;

/// What is worth knowing of an adapter before using it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AdapterSummary {
    /// Position in [`super::Gpu::list`]; `--adapter` takes it.
    pub index: usize,
    /// As the driver names it.
    pub name: String,
    /// `vulkan`, `metal`, `dx12`, `gl` or `noop`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub device_type: &'static str,
    /// The driver's name and version; empty where the backend doesn't tell.
    pub driver: String,
    /// Largest storage buffer that one binding can show, bytes: what limits a palette page.
    pub max_storage_binding_bytes: u64,
    /// True when passes can be timed on the GPU.
    pub timestamps: bool,
}

impl AdapterSummary {
    pub(super) fn new(index: usize, adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let driver = [info.driver, info.driver_info]
            .into_iter()
            .filter(|s| !s.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        Self {
            index,
            name: if info.name.is_empty() { info.backend.to_string() } else { info.name },
            backend: info.backend.to_string(),
            device_type: match info.device_type {
                wgpu::DeviceType::DiscreteGpu => "discrete",
                wgpu::DeviceType::IntegratedGpu => "integrated",
                wgpu::DeviceType::VirtualGpu => "virtual",
                wgpu::DeviceType::Cpu => "cpu",
                wgpu::DeviceType::Other => "other",
            },
            driver,
            max_storage_binding_bytes: adapter.limits().max_storage_buffer_binding_size,
            timestamps: info.backend != wgpu::Backend::Noop
                && adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        }
    }

    /// True when it computes on the processor.
    pub fn is_software(&self) -> bool {
        self.device_type == "cpu"
    }

    /// True when `wanted` is this adapter's index or, in any case, a part of its name or backend.
    pub fn answers_to(&self, wanted: &str) -> bool {
        if let Ok(index) = wanted.parse::<usize>() {
            return index == self.index;
        }
        let wanted = wanted.to_lowercase();
        self.name.to_lowercase().contains(&wanted) || self.backend.to_lowercase() == wanted
    }
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}, {})", self.index, self.name, self.backend, self.device_type)
    }
}

/// The adapters of a list, for an error message.
pub(super) fn listed(adapters: &[AdapterSummary]) -> String {
    if adapters.is_empty() {
        return "none at all".into();
    }
    adapters.iter().map(AdapterSummary::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(index: usize, name: &str, backend: &str) -> AdapterSummary {
        AdapterSummary {
            index,
            name: name.into(),
            backend: backend.into(),
            device_type: "cpu",
            driver: String::new(),
            max_storage_binding_bytes: 1 << 27,
            timestamps: false,
        }
    }

    #[test]
    fn an_adapter_answers_to_its_index_a_part_of_its_name_and_its_backend() {
        let a = summary(1, "llvmpipe (LLVM 15.0.6, 256 bits)", "vulkan");
        for wanted in ["1", "LLVMpipe", "llvm 15", "vulkan", "Vulkan"] {
            assert!(a.answers_to(wanted), "{wanted}");
        }
        // A number is an index, never a part of a name.
        for wanted in ["0", "15", "256", "nvidia", "vulk"] {
            assert!(!a.answers_to(wanted), "{wanted}");
        }
    }

    #[test]
    fn a_list_names_every_adapter() {
        let text = listed(&[summary(0, "A", "vulkan"), summary(1, "B", "gl")]);
        assert_eq!(text, "0: A (vulkan, cpu); 1: B (gl, cpu)");
        assert_eq!(listed(&[]), "none at all");
    }
}
