use toolwright::Registry;

struct AdminTools;

fn main() {
    let _ = Registry::new().all().exclude_bundle::<AdminTools>();
}
