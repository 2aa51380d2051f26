use toolwright::Tool;

#[derive(serde::Serialize)]
struct Book {
    title: &'static str,
}

fn main() {
    let _ = Tool::builder("book", "Finds a book.").run(|_, _| Book { title: "Emma" });
}
