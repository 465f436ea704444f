import { expect, test } from "bun:test";
import type { ClientHttp2Session } from "node:http2";
import { TestServer } from "./server.ts";

/** Returns the status code of a POST on an open HTTP/2 session. */
function post(session: ClientHttp2Session, token: string, path: string, body: Uint8Array): Promise<number> {
  const headers = {
    ":method": "POST",
    ":path": path,
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const stream = session.request(headers);
  stream.on("response", (answer) => resolve(answer[":status"] ?? 0));
  stream.on("error", reject);
  stream.resume();
  stream.end(body);
  return promise;
}

test("bodies of more than a megabyte arrive over HTTP/2, one after another on one connection", async () => {
  await using server = await TestServer.start();
  const session = server.http2();
  // Larger than the limit of a ConfigMap, so that the answer proves that the whole body was read.
  const body = Buffer.from(JSON.stringify({ metadata: { name: "large" }, data: { k: "x".repeat(2 * 1024 * 1024) } }));
  try {
    for (let round = 0; round < 3; round++) {
      expect(await post(session, server.running.token, "/api/v1/namespaces/default/configmaps", body)).toBe(422);
    }
  } finally {
    session.destroy();
  }
});
