use toolwright::tool;

/// Writes a report.
#[tool]
fn report(
    #[param(default = "${city}-${when:-now}.md")] file: String,
    city: String,
) -> String {
    file + &city
}

fn main() {}
