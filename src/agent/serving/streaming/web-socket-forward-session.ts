import { TextError } from "../../../api/status.ts";
import { type WebSocketRequest, webSocketHeaders, webSocketRequest } from "../../../http/web-socket.ts";
import type { HttpResponse, IncomingRequest } from "../../../request/exchange.ts";
import { type ForwardOptions, parsePort } from "./forward-session.ts";
import { type Link, runOnLink } from "./link.ts";
import { forwardProtocol, serveForwards } from "./spdy/spdy-forward-session.ts";
import { type ChannelEncoding, WebSocketChannels } from "./web-socket-channels.ts";
import { WebSocketConnection, webSocketPing } from "./web-socket-connection.ts";
import { chosenProtocol } from "./web-socket-protocol.ts";
import { tunnelledLink } from "./web-socket-tunnel.ts";

/** The subprotocol whose messages carry a SPDY connection. */
const tunnelProtocol = `SPDY/3.1+${forwardProtocol}`;

const protocols: readonly { readonly name: string | undefined; readonly encoding: ChannelEncoding }[] = [
  { name: undefined, encoding: "binary" },
  { name: "v4.channel.k8s.io", encoding: "binary" },
  { name: "v4.base64.channel.k8s.io", encoding: "base64" },
];
/** Each port has two channels, and a channel's number is one byte. */
const portsMax = 127;

/** Serves forwarded connections over a WebSocket. Returns undefined if the request is for another protocol. */
export function webSocketForwardSession(
  request: IncomingRequest,
  portsOf: () => readonly string[],
  options: ForwardOptions,
): HttpResponse | undefined {
  const asked = webSocketRequest(request);
  if (asked === undefined) return undefined;
  if (asked.protocols.includes(tunnelProtocol)) {
    return reply(asked, tunnelProtocol, options, (link) =>
      serveForwards(tunnelledLink(new WebSocketConnection(link)), options),
    );
  }
  const ports = parsePorts(portsOf());
  const { name, encoding } = chosenProtocol(asked.protocols, protocols);
  return reply(asked, name, options, (link) => serveChannels(link, encoding, ports, options));
}

function reply(
  { upgraded, accept }: WebSocketRequest,
  protocol: string | undefined,
  options: ForwardOptions,
  run: (link: Link) => Promise<void>,
): HttpResponse {
  const headers = webSocketHeaders(accept, protocol);
  return { kind: "stream", code: 101, headers, run: (sink) => runOnLink(upgraded, sink, options, webSocketPing, run) };
}

/** @throws TextError 400 */
function parsePorts(texts: readonly string[]): number[] {
  if (texts.length === 0) throw new TextError(400, 'query parameter "port" is required');
  const ports = texts.flatMap((text) => {
    if (text === "") throw new TextError(400, 'query parameter "port" cannot be empty');
    return text.split(",").map((one) => {
      const port = parsePort(one, text);
      if (typeof port === "string") throw new TextError(400, port);
      return port;
    });
  });
  if (ports.length > portsMax) throw new TextError(400, `at most ${portsMax} ports may be forwarded`);
  return ports;
}

async function serveChannels(
  link: Link,
  encoding: ChannelEncoding,
  ports: readonly number[],
  { forward, failureText }: ForwardOptions,
): Promise<void> {
  const socket = new WebSocketConnection(link);
  const dataChannels = ports.map((_, at) => at * 2);
  const channels = new WebSocketChannels(socket, encoding, dataChannels);
  const ended = new AbortController();
  void channels.run({ canClose: false }).finally(() => ended.abort());
  const signal = AbortSignal.any([link.signal, ended.signal]);
  const serve = async (port: number, channel: number) => {
    const number = Uint8Array.of(port & 0xff, port >> 8);
    await channels.write(channel, number);
    await channels.write(channel + 1, number);
    const input = channels.input(channel) as AsyncIterable<Uint8Array>;
    try {
      await forward(port, { input, output: (chunk) => channels.write(channel, chunk), signal });
    } catch (error) {
      await channels.write(channel + 1, Buffer.from(failureText(port, error as Error)));
    }
    channels.discard(channel);
  };
  await Promise.all(ports.map((port, at) => serve(port, at * 2)));
  socket.close();
}
