import type { HttpResponse, IncomingRequest } from "../../../../request/exchange.ts";
import type { SessionChoice } from "../../../runtime/runtime.ts";
import { type Link, runOnLink } from "../link.ts";
import { runProcess, type SessionOptions } from "../process-session.ts";
import { terminalSizes } from "../terminal-sizes.ts";
import { SpdyConnection, spdyPing } from "./spdy-connection.ts";
import { spdyRequest } from "./spdy-request.ts";
import type { SpdyStream } from "./spdy-stream.ts";

interface Protocol {
  /** Whether the end of a process is sent as a Status, not as text. */
  readonly sendsStatus: boolean;
  readonly hasResize: boolean;
}

/** By preference, which the client decides. */
const protocols: Readonly<Record<string, Protocol>> = {
  "v4.channel.k8s.io": { sendsStatus: true, hasResize: true },
  "v3.channel.k8s.io": { sendsStatus: false, hasResize: true },
  "v2.channel.k8s.io": { sendsStatus: false, hasResize: false },
  "channel.k8s.io": { sendsStatus: false, hasResize: false },
};
const streamTypes = ["error", "stdin", "stdout", "stderr", "resize"] as const;
type StreamType = (typeof streamTypes)[number];

/** Time for the client to create its streams. */
const creationTimeoutMs = 30_000;

/** Serves the session over SPDY. @throws TextError for another request */
export function spdyProcessSession(request: IncomingRequest, options: SessionOptions): HttpResponse {
  const { upgraded, protocol, headers } = spdyRequest(request, Object.keys(protocols));
  const rules = protocols[protocol] as Protocol;
  return {
    kind: "stream",
    code: 101,
    headers,
    run: (sink) => runOnLink(upgraded, sink, options, spdyPing, (link) => serve(link, rules, options)),
  };
}

async function serve(link: Link, protocol: Protocol, options: SessionOptions): Promise<void> {
  const { choice, clock, run, onBroken } = options;
  const expected = expectedStreams(choice, protocol);
  const streams = new Map<StreamType, SpdyStream>();
  const { promise: complete, resolve } = Promise.withResolvers<boolean>();
  const connection = new SpdyConnection(
    link,
    {
      open(stream) {
        const type = streamTypes.find((one) => one === stream.headers.get("streamtype"));
        if (type === undefined || streams.has(type)) return stream.discardInput();
        streams.set(type, stream);
        if (expected.every((one) => streams.has(one))) resolve(true);
      },
    },
    onBroken,
  );
  const reading = connection.run();
  void reading.then(() => resolve(false));
  const timer = clock.after(creationTimeoutMs, () => {
    onBroken("timed out waiting for client to create streams");
    resolve(false);
  });
  const isComplete = await complete;
  timer[Symbol.dispose]();
  if (isComplete) {
    const writer = (type: StreamType) => {
      const stream = streams.get(type);
      return stream && ((bytes: Uint8Array) => stream.write(bytes));
    };
    const sizes = streams.get("resize")?.input;
    const status = await runProcess(run, link.signal, reading, {
      stdin: choice.stdin ? streams.get("stdin")?.input : undefined,
      stdout: choice.stdout ? writer("stdout") : undefined,
      stderr: choice.stderr ? writer("stderr") : undefined,
      resize: choice.tty && sizes !== undefined ? terminalSizes(sizes) : undefined,
    });
    const text = protocol.sendsStatus ? JSON.stringify(status) : (status.message ?? "");
    await streams.get("error")?.write(Buffer.from(text));
  }
  connection.close();
}

function expectedStreams({ stdin, stdout, stderr, tty }: SessionChoice, { hasResize }: Protocol): StreamType[] {
  const wanted = { error: true, stdin, stdout, stderr, resize: tty && hasResize };
  return streamTypes.filter((type) => wanted[type]);
}
