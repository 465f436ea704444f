import type { Eventual } from "../../process/eventual.ts";
import type { HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import { BodyPipe } from "../body-pipe.ts";
import { decodeForwarded } from "./forwarded-request.ts";

/**
 * Serves the requests that other processes of this server pass on.
 * @param path the socket's place. Others must have no access to its directory: a request names its own client certificate
 */
export function serveForwarded(
  path: string,
  handle: (request: IncomingRequest) => Eventual<HttpResponse>,
): AsyncDisposable {
  const server = Bun.serve({
    unix: path,
    async fetch(received, server) {
      // An answer may pause for as long as its reader does.
      server.timeout(received, 0);
      const request = decodeForwarded(Buffer.from(await received.arrayBuffer()));
      received.signal.addEventListener("abort", () => request.abort(new Error("the client is gone")));
      const response = await handle(request);
      const init = {
        status: response.code,
        headers: response.headers.map(([name, value]): [string, string] => [name, value]),
      };
      return new Response(bodyOf(response, received.signal), init);
    },
  });
  return { [Symbol.asyncDispose]: () => server.stop(true) };
}

async function* bodyOf(response: HttpResponse, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (response.kind === "stream") {
    const pipe = new BodyPipe(signal);
    yield* pipe.read(response.run(pipe));
  } else if (response.body instanceof Uint8Array) yield response.body;
  else yield* response.body;
}
