//! Prints the public items of a crate, one per line: `api-lines target/doc/toolwright_core.json`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("error: pass a file with the JSON of rustdoc");
        return ExitCode::from(2);
    };
    // Implementations that every type has say nothing about this one.
    let builder = public_api::Builder::from_rustdoc_json(&file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true);
    match builder.build() {
        Ok(api) => {
            println!("{api}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", file.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}
