import type { HeaderList, HttpResponse } from "../request/exchange.ts";

/** Returns the response with further headers after its own. */
export function withHeaders(response: HttpResponse, more: HeaderList): HttpResponse {
  if (more.length === 0) return response;
  const { code } = response;
  const headers = [...response.headers, ...more];
  if (response.kind === "reply") return { kind: "reply", code, headers, body: response.body };
  return { kind: "stream", code, headers, run: (sink) => response.run(sink) };
}

/** Returns the response, and calls `done` once when its body ends; for a finished reply, at once. */
export function whenComplete(response: HttpResponse, done: () => void): HttpResponse {
  if (response.kind === "reply") {
    done();
    return response;
  }
  const { code, headers } = response;
  return { kind: "stream", code, headers, run: (sink) => response.run(sink).finally(done) };
}
