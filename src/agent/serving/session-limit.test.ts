import { expect, test } from "bun:test";
import type { ByteSink, HttpResponse, StreamReply } from "../../request/exchange.ts";
import { SessionLimit } from "./session-limit.ts";

const sink = {} as ByteSink;

function session(run: () => Promise<void>): () => HttpResponse {
  return () => ({ kind: "stream", code: 101, headers: [], run });
}

test("a session counts until it ends", async () => {
  const limit = new SessionLimit(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = limit.hold(session(() => promise)) as StreamReply;
  const running = first.run(sink);
  expect(() => limit.hold(session(async () => {}))).toThrow(
    expect.objectContaining({
      code: 429,
      message: "rpc error: code = ResourceExhausted desc = maximum number of in-flight requests exceeded",
      headers: [["retry-after", "60"]],
    }),
  );
  resolve();
  await running;
  expect(limit.hold(session(async () => {})).kind).toBe("stream");
});

test("a session that fails or does not begin does not count", async () => {
  const limit = new SessionLimit(1);
  const refused = () => {
    throw new Error("refused");
  };
  expect(() => limit.hold(refused)).toThrow("refused");
  const broken = limit.hold(session(() => Promise.reject(new Error("broken")))) as StreamReply;
  await expect(broken.run(sink)).rejects.toThrow("broken");
  expect(limit.hold(session(async () => {})).kind).toBe("stream");
});
