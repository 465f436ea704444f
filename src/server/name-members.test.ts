import { expect, test } from "bun:test";
import type { NamedServer } from "../access/certificates/kubeconfig.ts";
import { systemClock } from "../process/clock.ts";
import type { MemberRecord } from "../storage/cluster.ts";
import { nameMembers } from "./name-members.ts";

test("names the members that have a URL, as they come and go, and a server that is alone not at all", () => {
  let members: MemberRecord[] = [];
  let tick = () => {};
  const named: (readonly NamedServer[])[] = [];
  const clock = {
    ...systemClock,
    every(_intervalMs: number, run: () => void) {
      tick = run;
      return { [Symbol.dispose]() {} };
    },
  };
  const member = (id: number, clientUrl: string) => ({ id, name: `m${id}`, peerAddress: "a:1", clientUrl });
  using _naming = nameMembers({
    cluster: { members: () => members },
    clock,
    identity: { nameMembers: async (servers) => void named.push(servers) },
    onError: (error) => expect(error).toBeUndefined(),
  });
  members = [member(1, "https://a:1")];
  tick();
  members = [member(1, "https://a:1"), member(2, ""), member(3, "https://c:1")];
  tick();
  members = [member(3, "https://c:1")];
  tick();
  const both = [
    { name: "m1", server: "https://a:1" },
    { name: "m3", server: "https://c:1" },
  ];
  expect(named).toEqual([[], [], both, []]);
});
