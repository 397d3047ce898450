//! Rank 0: transforms, views and frusta. No knowledge of bones, files or the GPU.

pub mod bounds;
pub mod frustum;
pub mod huge;
pub mod mat3x4;
pub mod simd;
pub mod trs;
pub mod view;

pub use bounds::Bounds;
pub use frustum::Frustum;
pub use mat3x4::Mat3x4;
pub use simd::{Lanes, SimdError, SimdLevel};
pub use trs::Trs;
pub use view::View;
