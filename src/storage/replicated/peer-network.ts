import { isIP } from "node:net";
import { type Address, type TlsFiles, TlsTransport, type Transport, toMemberId } from "../../../raft/index.ts";
import type { ReplicaSelf } from "./open-replica.ts";

export interface PeerNetworkOptions {
  /** What others connect to, and what is listened on; for a name that is every address. */
  readonly address: Address;
  /** Asked before each connection. */
  readonly tls: () => TlsFiles;
}

export interface PeerNetwork {
  readonly transport: Transport;
  /** `tls` gives something new: connections that are made from now on use it. */
  reloadCertificates(): void;
}

/** Connects a replica with the other members, both sides proving who they are. */
export function connectPeers(self: ReplicaSelf, { address, tls }: PeerNetworkOptions): PeerNetwork {
  const { host, port } = address;
  const transport = new TlsTransport({
    clusterId: self.clusterId,
    memberId: toMemberId(self.id),
    starts: self.starts,
    listen: { host: isIP(host) === 0 ? "0.0.0.0" : host, port },
    addressOf: (member) => addressOf(self.peerAddressOf(member)),
    tls,
    mayHaveJoined: self.mayHaveJoined,
  });
  return { transport, reloadCertificates: () => transport.reloadCertificates() };
}

/** Of `host:port` or `[v6]:port`, which was checked when the member was recorded. */
function addressOf(text: string | undefined): Address | undefined {
  const [, v6, name, port] = /^(?:\[(.+)\]|(.+)):(\d+)$/.exec(text ?? "") ?? [];
  const host = v6 ?? name;
  return host === undefined ? undefined : { host, port: Number(port) };
}
