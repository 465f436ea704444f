import type { Transport, TransportEvents } from "../../../raft/index.ts";

/** Of a replica that is alone: there is nobody to talk to, and nothing listens. */
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
      throw new Error("there is nobody to send a snapshot to");
    },
    async close() {},
  };
}
