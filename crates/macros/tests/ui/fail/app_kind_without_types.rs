use toolwright::AppKind;

#[derive(AppKind)]
#[app_kind]
struct Editor;

fn main() {}
