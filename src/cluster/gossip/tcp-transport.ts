import type { Socket } from "node:net";
import type { Transport } from "@libp2p/interface";
import { type TCPComponents, tcp } from "@libp2p/tcp";
import type { Multiaddr } from "@multiformats/multiaddr";

/** Connections that wait to be accepted. */
const backlogMax = 64;

/**
 * TCP, whose sockets do not know of the signal that ends an attempt to connect. A socket that does emits an error when
 * nobody listens for it any more, which would end the process; the transport destroys the socket itself.
 */
export function tcpTransport(components: TCPComponents): Transport {
  const transport = tcp({ backlog: backlogMax, dialOpts: { noDelay: true }, listenOpts: { noDelay: true } })(
    components,
  ) as Transport & { _connect(address: Multiaddr, options: object): Promise<Socket> };
  const connect = transport._connect.bind(transport);
  // What is inherited can be read, and is not among what is copied into the options of the socket.
  transport._connect = (address, options) => connect(address, Object.create(options) as object);
  return transport;
}
