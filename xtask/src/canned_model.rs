//! A server on this machine that answers like OpenAI's Responses API, for the examples of real models.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Calls the tool `add`.
const CALL: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":"{\"a\":2,\"b\":3}","status":"completed"}}"#;

/// Answers in two pieces.
const ANSWER: &str = concat!(
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"That is "}"#,
    "\n\ndata: ",
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"5."}"#,
    "\n\ndata: ",
    r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"That is 5.","annotations":[]}]}}"#,
);

const END: &str = r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":20,"output_tokens":5}}}"#;

/// Serves until the process ends; returns the base URL.
pub(crate) fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        // A program that ends early is reported by its own output.
        listener.incoming().flatten().for_each(|connection| drop(respond(&connection)));
    });
    Ok(format!("http://{address}/v1"))
}

/// Answers the requests of a connection: the first of a turn with a call, the one with its result with text.
fn respond(mut connection: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(connection);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 0 {
        let header = std::mem::take(&mut line).to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        } else if header == "\r\n" {
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            let has_result = String::from_utf8_lossy(&body).contains("function_call_output");
            let frames =
                format!("data: {}\n\ndata: {END}\n\n", if has_result { ANSWER } else { CALL });
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length:";
            write!(connection, "{head} {}\r\n\r\n{frames}", frames.len())?;
        }
    }
    Ok(())
}
