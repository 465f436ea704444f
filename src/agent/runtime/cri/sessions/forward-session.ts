import { thrownText } from "../../../../process/thrown-text.ts";
import { type PortConnection, RuntimeError } from "../../runtime.ts";
import { copyInput } from "./copy-input.ts";
import { readText } from "./read-text.ts";
import { SpdyClient } from "./spdy-client.ts";

const protocol = "portforward.k8s.io";
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
  const failed = readText(error.input).catch(thrownText);
  void copyInput(data, input);
  for await (const chunk of data.input) await output(chunk);
  const text = await Promise.race([failed, client.ended.then(() => "")]);
  if (text !== "") throw new RuntimeError("RuntimeError", text.replace(repeatedPart, ""));
}
