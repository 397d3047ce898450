// Brings evaluated palettes from upload memory to their slots in a page. One invocation moves one
// row of one matrix; all is integers here, so that no bit of a float can be lost.

struct Section {
    // Where the section's targets begin in `written`, four to an element: the first row of each
    // palette's slot in the page.
    targets: u32,
    // Where its palettes begin in `written`, one after the other.
    rows: u32,
    // Rows of all its palettes.
    count: u32,
    // Rows of one palette.
    palette_rows: u32,
}

@group(0) @binding(0) var<storage, read> written: array<vec4<u32>>;
@group(1) @binding(0) var<storage, read_write> page: array<vec4<u32>>;
@group(2) @binding(0) var<uniform> section: Section;

@compute @workgroup_size(256)
fn scatter(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if row >= section.count {
        return;
    }
    let palette = row / section.palette_rows;
    let target_row = written[section.targets + palette / 4u][palette % 4u];
    page[target_row + row % section.palette_rows] = written[section.rows + row];
}
