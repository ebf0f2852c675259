//! A bare hyper server that answers every request with a constant, for comparison in `benches/http.sh`.
//!
//! ```sh
//! cargo run --release --example constant -- 127.0.0.1:8081 1500
//! ```

use std::convert::Infallible;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(bytes)) = (arguments.next(), arguments.next()) else {
        return Err("usage: constant ADDRESS BYTES".into());
    };
    let answer = Bytes::from(vec![b'x'; bytes.parse()?]);
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let answer = answer.clone();
            let service = service_fn(move |_: Request<Incoming>| {
                let answer = Response::new(Full::new(answer.clone()));
                async { Ok::<_, Infallible>(answer) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}
