import { webSocketHeaders, webSocketRequest } from "../../../http/web-socket.ts";
import type { HttpResponse, IncomingRequest } from "../../../request/exchange.ts";
import { type Link, runOnLink } from "./link.ts";
import { runProcess, type SessionOptions } from "./process-session.ts";
import { terminalSizes } from "./terminal-sizes.ts";
import { type ChannelEncoding, WebSocketChannels } from "./web-socket-channels.ts";
import { WebSocketConnection, webSocketPing } from "./web-socket-connection.ts";
import { chosenProtocol } from "./web-socket-protocol.ts";

const channelOf = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

interface Protocol {
  readonly name: string | undefined;
  readonly encoding: ChannelEncoding;
  /** Whether the end of a process is sent as a Status, not as text. */
  readonly sendsStatus: boolean;
  /** Whether the client can close its standard input alone. */
  readonly canClose: boolean;
}

const unnamed: Protocol = { name: undefined, encoding: "binary", sendsStatus: false, canClose: false };
const protocols: readonly Protocol[] = [
  unnamed,
  { name: "v5.channel.k8s.io", encoding: "binary", sendsStatus: true, canClose: true },
  { name: "v4.channel.k8s.io", encoding: "binary", sendsStatus: true, canClose: false },
  { name: "v4.base64.channel.k8s.io", encoding: "base64", sendsStatus: true, canClose: false },
  { ...unnamed, name: "channel.k8s.io" },
  { ...unnamed, name: "base64.channel.k8s.io", encoding: "base64" },
];

/** Serves the session over a WebSocket. Returns undefined if the request is for another protocol. */
export function webSocketProcessSession(request: IncomingRequest, options: SessionOptions): HttpResponse | undefined {
  const asked = webSocketRequest(request);
  if (asked === undefined) return undefined;
  const protocol = chosenProtocol(asked.protocols, protocols);
  return {
    kind: "stream",
    code: 101,
    headers: webSocketHeaders(asked.accept, protocol.name),
    run: (sink) => runOnLink(asked.upgraded, sink, options, webSocketPing, (link) => serve(link, protocol, options)),
  };
}

async function serve(link: Link, protocol: Protocol, { choice, run }: SessionOptions): Promise<void> {
  const socket = new WebSocketConnection(link);
  const readable = [...(choice.stdin ? [channelOf.stdin] : []), ...(choice.tty ? [channelOf.resize] : [])];
  const channels = new WebSocketChannels(socket, protocol.encoding, readable);
  const writer = (channel: number) => (bytes: Uint8Array) => channels.write(channel, bytes);
  // The first message tells the client that the streams are connected.
  const first = choice.stdout ? channelOf.stdout : choice.stderr ? channelOf.stderr : channelOf.error;
  await channels.write(first, new Uint8Array());

  const sizes = channels.input(channelOf.resize);
  const reading = channels.run(protocol);
  const status = await runProcess(run, link.signal, reading, {
    stdin: channels.input(channelOf.stdin),
    stdout: choice.stdout ? writer(channelOf.stdout) : undefined,
    stderr: choice.stderr ? writer(channelOf.stderr) : undefined,
    resize: sizes && terminalSizes(sizes),
  });
  if (protocol.sendsStatus) await channels.write(channelOf.error, Buffer.from(JSON.stringify(status)));
  else if (status.message !== undefined) await channels.write(channelOf.error, Buffer.from(status.message));
  // A client that still sends would otherwise wait for a reader.
  for (const channel of readable) channels.discard(channel);
  socket.close();
}
