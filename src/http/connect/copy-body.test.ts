import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import { AnswerCutError } from "../../request/answer-cut.ts";
import { copyBody } from "./copy-body.ts";

function sinkOf(signal: AbortSignal, write: (chunk: Uint8Array) => boolean) {
  return { signal, write, drained: () => Promise.resolve() } as Parameters<typeof copyBody>[1];
}

function brokenOff(): Readable {
  return Readable.from(
    (function* () {
      yield Buffer.from("a");
      throw new Error("ECONNRESET");
    })(),
  );
}

test("a backend that breaks off an answer is named as the cause", async () => {
  const written: string[] = [];
  const sink = sinkOf(new AbortController().signal, (chunk) => written.push(Buffer.from(chunk).toString()) > 0);
  const copying = copyBody(brokenOff(), sink);
  await expect(copying).rejects.toThrow(AnswerCutError);
  expect(written).toEqual(["a"]);
});

test("a client that has gone ends the answer without an error", async () => {
  const client = new AbortController();
  const body = Readable.from([Buffer.from("a"), Buffer.from("b")]);
  const written: string[] = [];
  const sink = sinkOf(client.signal, (chunk) => {
    client.abort();
    return written.push(Buffer.from(chunk).toString()) > 0;
  });
  await copyBody(body, sink);
  expect([written, body.destroyed]).toEqual([["a"], true]);
});
