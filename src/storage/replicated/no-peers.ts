import type { Transport, TransportEvents } from "../../../raft/index.ts";

/** Returns the transport of a replica without peers: it sends nothing and does not listen. */
export function noPeers(): Transport {
  let events: TransportEvents | undefined;
  return {
    async start(given) {
      events = given;
    },
    setMembers() {},
    send(messages) {
      for (const message of messages) events?.dropped(message, "unknown");
    },
    async sendSnapshot() {
      throw new Error("there are no peers to send a snapshot to");
    },
    async close() {},
  };
}
