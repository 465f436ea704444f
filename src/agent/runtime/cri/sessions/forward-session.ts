import { thrownText } from "../../../../process/thrown-text.ts";
import type { SpdyStream } from "../../../serving/streaming/spdy/spdy-stream.ts";
import { type PortConnection, RuntimeError } from "../../runtime.ts";
import { SpdyClient } from "./spdy-client.ts";

const protocol = "portforward.k8s.io";
const errorBytesMax = 64 * 1024;
/** The part of a message that the agent's own endpoint adds again. */
const repeatedPart = /^error forwarding port \d+ to pod [^,]*, uid [^:]*: /;

/** Connects to a port behind a URL of the runtime, until either side closes. @throws RuntimeError */
export async function runForward(url: string, port: number, { input, output, signal }: PortConnection): Promise<void> {
  using client = await SpdyClient.connect(new URL(url), protocol, signal);
  const open = (type: string) =>
    client.open(
      new Map([
        ["streamtype", type],
        ["port", String(port)],
        ["requestid", "0"],
      ]),
    );
  const error = await open("error");
  // Only the runtime writes errors.
  error.end();
  const data = await open("data");
  const failed = readText(error);
  void send(data, input);
  for await (const chunk of data.input) await output(chunk);
  const text = await Promise.race([failed, client.ended.then(() => "")]);
  if (text !== "") throw new RuntimeError("RuntimeError", text.replace(repeatedPart, ""));
}

async function send(stream: SpdyStream, input: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of input) await stream.write(chunk);
  } catch {
    // The client's connection broke, which ends its input like any other end.
  }
  stream.end();
}

async function readText(stream: SpdyStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream.input) {
      if (bytes < errorBytesMax) chunks.push(chunk);
      bytes += chunk.byteLength;
    }
  } catch (error) {
    return thrownText(error);
  }
  return Buffer.concat(chunks).toString();
}
