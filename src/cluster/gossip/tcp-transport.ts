import type { Socket } from "node:net";
import type { Transport } from "@libp2p/interface";
import { type TCPComponents, tcp } from "@libp2p/tcp";
import type { Multiaddr } from "@multiformats/multiaddr";

/** Maximum number of connections that wait to be accepted. */
const backlogMax = 64;

/**
 * Returns a TCP transport whose sockets do not receive the signal that aborts an attempt to connect. A socket with the
 * signal emits an error after its last listener is gone, which would end the process. The transport destroys the socket
 * itself.
 */
export function tcpTransport(components: TCPComponents): Transport {
  const transport = tcp({ backlog: backlogMax, dialOpts: { noDelay: true }, listenOpts: { noDelay: true } })(
    components,
  ) as Transport & { _connect(address: Multiaddr, options: object): Promise<Socket> };
  const connect = transport._connect.bind(transport);
  // Inherited options can be read but are not copied into the options of the socket.
  transport._connect = (address, options) => connect(address, Object.create(options) as object);
  return transport;
}
