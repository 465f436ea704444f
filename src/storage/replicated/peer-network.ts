import { isIP } from "node:net";
import { type Address, type TlsFiles, TlsTransport, type Transport, toMemberId } from "../../../raft/index.ts";
import type { ReplicaSelf } from "./open-replica.ts";

export interface PeerNetworkOptions {
  /** The address that others connect to and that this replica listens on. For a name, it listens on all addresses. */
  readonly address: Address;
  /** Returns the TLS files. Called before each connection. */
  readonly tls: () => TlsFiles;
}

export interface PeerNetwork {
  readonly transport: Transport;
  /** Uses the current result of `tls` for new connections. */
  reloadCertificates(): void;
}

/** Connects a replica to the other members with mutual authentication. */
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
    wasRemoved: self.wasRemoved,
  });
  return { transport, reloadCertificates: () => transport.reloadCertificates() };
}

/** Parses `host:port` or `[v6]:port`, which was checked when the member was recorded. */
function addressOf(text: string | undefined): Address | undefined {
  const [, v6, name, port] = /^(?:\[(.+)\]|(.+)):(\d+)$/.exec(text ?? "") ?? [];
  const host = v6 ?? name;
  return host === undefined ? undefined : { host, port: Number(port) };
}
