//! Which GPUs there are, and the choice among them.

use super::gpu::{GpuError, GpuRequest};
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

/// Every adapter of an instance.
pub(super) fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

/// What is worth knowing of each, in the same order.
pub(super) fn summaries(adapters: &[wgpu::Adapter]) -> Vec<AdapterSummary> {
    adapters.iter().enumerate().map(|(i, a)| AdapterSummary::new(i, a)).collect()
}

/// The adapter that the request, or else the environment, names; without a name, wgpu's choice.
pub(super) fn choose(
    instance: &wgpu::Instance,
    request: &GpuRequest,
    surface: Option<&wgpu::Surface<'static>>,
) -> Result<(wgpu::Adapter, AdapterSummary), GpuError> {
    let all = adapters(instance);
    let known = summaries(&all);
    let can_present = |a: &wgpu::Adapter| surface.is_none_or(|s| a.is_surface_supported(s));
    let wanted = match &request.adapter {
        Some(_) if request.is_noop() => Some("0".to_owned()),
        Some(wanted) => Some(wanted.clone()),
        None => std::env::var("WGPU_ADAPTER_NAME").ok().filter(|name| !name.is_empty()),
    };
    if let Some(wanted) = wanted {
        let mut fitting: Vec<_> =
            all.into_iter().zip(known.iter()).filter(|(_, s)| s.answers_to(&wanted)).collect();
        if let Some(i) = fitting.iter().position(|(a, _)| can_present(a)) {
            let (adapter, summary) = fitting.swap_remove(i);
            return Ok((adapter, summary.clone()));
        }
        return Err(match fitting.first() {
            None => GpuError::NotFound { wanted, available: listed(&known) },
            Some((_, summary)) => {
                let able = adapters(instance);
                let able: Vec<_> = summaries(&able)
                    .into_iter()
                    .zip(&able)
                    .filter(|(_, a)| can_present(a))
                    .map(|(s, _)| s)
                    .collect();
                GpuError::CannotPresent { name: summary.name.clone(), available: listed(&able) }
            }
        });
    }
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::from_env()
            .unwrap_or(wgpu::PowerPreference::HighPerformance),
        compatible_surface: surface,
        ..Default::default()
    };
    let adapter = pollster::block_on(instance.request_adapter(&options))
        .map_err(|e| GpuError::NoAdapter { reason: e.to_string() })?;
    let info = adapter.get_info();
    let same = |a: &wgpu::Adapter| {
        let other = a.get_info();
        (&other.name, other.backend, other.device, &other.device_pci_bus_id)
            == (&info.name, info.backend, info.device, &info.device_pci_bus_id)
    };
    let index = all.iter().position(same).unwrap_or(0);
    let summary = AdapterSummary::new(index, &adapter);
    Ok((adapter, summary))
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
