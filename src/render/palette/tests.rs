use super::super::gpu::GpuRequest;
use super::super::ring::CHUNK;
use super::*;
use crate::asset::builtin;

#[test]
fn near_ranges_become_one_and_far_ones_stay_apart() {
    let ranges = [0..100, 100..200, 208..300, 320..321, 330..330, 400..410];
    assert_eq!(merged(&ranges, 8).collect::<Vec<_>>(), [0..300, 320..321, 400..410]);
    let ranges = [0..2000, 2064..2100, 2110..2111, 2176..2177];
    assert_eq!(merged(&ranges, 64).collect::<Vec<_>>(), [0..2111, 2176..2177]);
    // A twentieth of what is wanted and no more.
    let every_third: Vec<_> = (0..1000).map(|i| 3 * i..3 * i + 1).collect();
    let copied: usize = merged(&every_third, 64).map(|range| range.len()).sum();
    assert!((1040..=1050).contains(&copied), "{copied}");
    assert_eq!(merged(&[], 64).count(), 0);
}

struct Bench {
    gpu: Gpu,
    palettes: Palettes,
    staging: Staging,
    pool: rayon::ThreadPool,
}

impl Bench {
    /// Copies: wgpu's backend that draws nothing does copy buffers.
    fn copying(limit_bytes: Option<u64>) -> Self {
        Self::new(Some("noop".into()), PaletteUpload::Copy, limit_bytes)
    }

    /// Scatters, on the machine's adapter.
    fn scattering() -> Self {
        let this = Self::new(None, PaletteUpload::Scatter, None);
        assert!(this.palettes.scatter.is_some(), "{} can't", this.gpu.summary());
        this
    }

    fn new(adapter: Option<String>, path: PaletteUpload, limit_bytes: Option<u64>) -> Self {
        let gpu = Gpu::new(&GpuRequest { adapter }).unwrap();
        let palettes = Palettes::new(&gpu, limit_bytes, path);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        Self { gpu, palettes, staging: Staging::new(), pool }
    }

    /// Uploads and returns the bytes that went over.
    fn upload(&mut self, pages: &[crowd::Page]) -> Result<u64, RenderError> {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let upload = Upload {
            gpu: &self.gpu,
            staging: &mut self.staging,
            encoder: &mut encoder,
            spare: Some(&self.pool),
            times: &PhaseTimes::default(),
            timer: None,
        };
        self.palettes.upload(upload, pages)?;
        self.staging.close();
        self.palettes.close();
        self.gpu.queue().submit([encoder.finish()]);
        self.staging.recall();
        self.palettes.recall();
        self.gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        self.gpu.check().unwrap();
        Ok(self.staging.take_written() + self.palettes.take_written())
    }

    fn read(&self, page: usize, len: usize) -> Vec<Mat3x4> {
        let size = len as u64 * STRIDE;
        let target = self.gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let source = &self.palettes.pages[page].buffer;
        encoder.copy_buffer_to_buffer(source, 0, &target, 0, size);
        self.gpu.queue().submit([encoder.finish()]);
        target.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
        self.gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let bytes = target.get_mapped_range(..).unwrap().to_vec();
        bytemuck::pod_collect_to_vec(&bytes)
    }
}

fn matrices(len: usize, seed: f32) -> Vec<Mat3x4> {
    let at = |i: usize| Mat3x4 { rows: [[seed + i as f32; 4]; 3] };
    (0..len).map(at).collect()
}

fn page(len: usize, palette_len: u32) -> crowd::Page {
    crowd::Page { matrices: matrices(len, 0.0), palette_len, ..crowd::Page::default() }
}

#[test]
fn a_page_keeps_its_rows_when_it_grows_and_only_dirty_rows_go_over() {
    let mut bench = Bench::copying(None);
    let mut page = [page(5000, 1)];
    assert_eq!(bench.upload(&page).unwrap(), 5000 * STRIDE);
    assert!(bench.read(0, 5000) == page[0].matrices);

    page[0].matrices[4000..4010].copy_from_slice(&matrices(10, 0.5));
    page[0].dirty = std::iter::once(4000..4010).collect();
    assert_eq!(bench.upload(&page).unwrap(), 10 * STRIDE);
    assert!(bench.read(0, 5000) == page[0].matrices);

    let capacity = bench.palettes.pages[0].capacity as usize;
    page[0].matrices.extend(matrices(capacity, 7.0));
    let len = page[0].matrices.len();
    page[0].dirty = std::iter::once(5000..len as u32).collect();
    assert_eq!(bench.upload(&page).unwrap(), capacity as u64 * STRIDE);
    assert!(bench.palettes.pages[0].capacity as usize > capacity);
    assert!(bench.read(0, len) == page[0].matrices);
}

#[test]
fn a_page_over_the_limit_and_a_range_outside_a_page_are_errors() {
    let mut bench = Bench::copying(Some(100 * STRIDE));
    assert_eq!(bench.palettes.limit(), 100);
    let mut pages = [page(101, 1)];
    pages[0].dirty = std::iter::once(0..101).collect();
    let error = bench.upload(&pages).unwrap_err();
    assert!(matches!(error, RenderError::PageTooLong { page: 0, len: 101, limit: 100 }));
    pages[0].matrices.pop();
    bench.upload(&pages).unwrap();
    let error = bench.upload(&pages).unwrap_err();
    assert!(matches!(error, RenderError::PageRange { end: 101, len: 100, .. }));
    pages[0].dirty = vec![Range { start: 3, end: 2 }];
    let error = bench.upload(&pages).unwrap_err();
    assert!(matches!(error, RenderError::PageRange { start: 3, end: 2, .. }));
}

/// Writes palettes of `page` at random and lists their runs.
fn disturb(page: &mut crowd::Page, seed: &mut u32, share: u32) {
    let len = page.palette_len as usize;
    let mut random = || {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *seed >> 8
    };
    page.dirty.clear();
    for start in (0..page.matrices.len()).step_by(len) {
        if random() % 100 >= share {
            continue;
        }
        // Some are cut, where the page has cut ones.
        let cut = page.cut.is_some() && random() % 3 > 0;
        let len = if cut { page.cut_len() as usize } else { len };
        for matrix in &mut page.matrices[start..start + len] {
            // Any bits, those that are no numbers too.
            let bits = [[(); 4]; 3].map(|row| row.map(|()| f32::from_bits(random() << 9)));
            *matrix = Mat3x4 { rows: bits };
        }
        let (start, end) = (start as u32, (start + len) as u32);
        match page.dirty.last_mut() {
            Some(last) if last.end == start && !cut => last.end = end,
            _ => page.dirty.push(start..end),
        }
    }
}

/// Room for so many built-in persons, whose palettes may be cut.
fn persons(count: usize) -> crowd::Page {
    let rig = builtin("humanoid").unwrap().unwrap().rig().unwrap();
    let len = rig.palette_len();
    crowd::Page { cut: rig.cut_rows().cloned(), ..page(count * len, len as u32) }
}

/// Matrices that are dirty.
fn written(page: &crowd::Page) -> u64 {
    page.dirty.iter().map(|range| range.len() as u64).sum()
}

fn bits(matrices: &[Mat3x4]) -> Vec<u32> {
    bytemuck::cast_slice(matrices).to_vec()
}

#[test]
fn scattered_pages_equal_their_sources_whatever_is_dirty_and_however_they_grow() {
    let mut bench = Bench::scattering();
    // The second is longer than a chunk; the third's palettes are of one matrix.
    let mut pages = vec![page(24 * 100, 24), page(61 * 1800, 61), page(777, 1), persons(400)];
    assert!(size_of_val(&*pages[1].matrices) as u64 > CHUNK);
    let mut seed = 7;
    for round in 0..8 {
        let shares = [[0, 100, 3, 60], [50, 10, 50, 100], [100, 1, 0, 5], [2, 60, 100, 0]];
        let shares = shares[round % 4];
        for (page, share) in pages.iter_mut().zip(shares) {
            let more = round * 40 * page.palette_len as usize;
            page.matrices.extend(matrices(more, 3.0));
            disturb(page, &mut seed, share);
            // What a page grew by is written.
            let end = page.matrices.len() as u32;
            let grown = end - more as u32;
            page.dirty.iter_mut().for_each(|r| r.end = r.end.min(grown));
            page.dirty.retain(|r| r.start < r.end);
            page.dirty.push(grown..end);
        }
        let fresh = round == 0;
        let moved = |p: &crowd::Page| match fresh {
            true => p.matrices.len() as u64,
            false => written(p),
        };
        let rows: u64 = pages.iter().map(|p| moved(p) * STRIDE).sum();
        let palettes = |p: &crowd::Page| match fresh {
            true => moved(p) / u64::from(p.palette_len),
            false => {
                let each = |r: &Range<u32>| u64::from((r.end - r.start).div_ceil(p.palette_len));
                p.dirty.iter().map(each).sum()
            }
        };
        let palettes: u64 = pages.iter().map(palettes).sum();
        let written = bench.upload(&pages).unwrap();
        // Rows, a target for each palette, and what sections take.
        let aside = written - rows;
        assert!(aside >= 4 * palettes && aside <= 4 * palettes + 16 * 1024, "{aside} {palettes}");
        for (index, page) in pages.iter().enumerate() {
            let len = page.matrices.len();
            assert!(bits(&bench.read(index, len)) == bits(&page.matrices), "{round} {index}");
        }
    }
}

#[test]
fn cut_palettes_arrive_on_both_paths_and_nothing_beside_them() {
    let mut seed = 11;
    let mut pages = vec![persons(700), page(24 * 50, 24)];
    let mut benches = [Bench::copying(None), Bench::scattering()];
    for bench in &mut benches {
        bench.upload(&pages).unwrap();
    }
    for share in [100, 60, 25, 3] {
        pages.iter_mut().for_each(|page| disturb(page, &mut seed, share));
        let cut = pages[0].dirty.iter().filter(|range| pages[0].is_cut(range)).count();
        assert!(cut > 4 && cut < pages[0].dirty.len() && pages[0].is_palettes(&pages[0].dirty));
        let rows = pages.iter().map(written).sum::<u64>() * STRIDE;
        for bench in &mut benches {
            let bytes = bench.upload(&pages).unwrap();
            assert!((rows..=rows + rows / 20 + 2048).contains(&bytes), "{bytes} {rows}");
            for (index, page) in pages.iter().enumerate() {
                let found = bench.read(index, page.matrices.len());
                assert!(bits(&found) == bits(&page.matrices), "{share} {index}");
            }
        }
    }
    // Another kind's page in its place has other rows.
    pages[0].cut = None;
    pages[0].dirty.clear();
    for bench in &mut benches {
        assert_eq!(bench.palettes.pages[0].rows.size(), 4 * u64::from(pages[0].palette_len));
        bench.upload(&pages).unwrap();
        assert_eq!(bench.palettes.pages[0].rows.size(), 4);
    }
}

#[test]
fn what_upload_memory_does_not_hold_is_copied() {
    let mut bench = Bench::scattering();
    bench.palettes.scatter.as_mut().unwrap().limit_memory(CHUNK);
    let mut pages = vec![page(61 * 3000, 61), persons(2000)];
    bench.upload(&pages).unwrap();
    let mut seed = 3;
    for share in [100, 70] {
        for at in [1, 0] {
            disturb(&mut pages[at], &mut seed, share);
        }
        bench.upload(&pages).unwrap();
        for (index, page) in pages.iter().enumerate() {
            assert!(bits(&bench.read(index, page.matrices.len())) == bits(&page.matrices));
        }
    }
}

#[test]
fn ranges_that_are_no_whole_palettes_are_copied() {
    let mut bench = Bench::scattering();
    let mut pages = vec![page(61 * 30, 61)];
    bench.upload(&pages).unwrap();
    pages[0].matrices[60..63].copy_from_slice(&matrices(3, 0.25));
    pages[0].dirty = std::iter::once(60..63).collect();
    assert_eq!(bench.upload(&pages).unwrap(), 3 * STRIDE);
    assert!(bench.read(0, 61 * 30) == pages[0].matrices);
    pages[0].palette_len = 0;
    assert_eq!(bench.upload(&pages).unwrap(), 3 * STRIDE);
}
