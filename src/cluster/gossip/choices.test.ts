import { describe, expect, test } from "bun:test";
import type { PeerHealth } from "./gossip.ts";
import { leaderHint } from "./leader-hint.ts";
import { servingMembers } from "./serving-members.ts";

type Said = Partial<PeerHealth>;

function peersOf(said: Record<number, Said>): Map<number, PeerHealth> {
  const silentNow: PeerHealth = {
    revision: 1,
    appliedIndex: 1,
    ready: true,
    failing: [],
    term: 1,
    leader: undefined,
    endpoints: [],
    release: "",
    ageMs: 10,
    isStale: false,
  };
  return new Map(Object.entries(said).map(([id, health]) => [Number(id), { ...silentNow, ...health }]));
}

describe("leaderHint()", () => {
  test.each<[string, Record<number, Said>, number | undefined]>([
    ["nobody says anything", {}, undefined],
    ["nobody knows a leader", { 2: { term: 9 } }, undefined],
    ["one does", { 2: { term: 5, leader: 3 }, 3: { term: 5 } }, 3],
    ["two differ: the later term", { 2: { term: 6, leader: 2 }, 3: { term: 5, leader: 3 } }, 2],
    ["only an earlier term is known", { 2: { term: 4, leader: 3 } }, undefined],
    ["who knows it is silent", { 2: { term: 5, leader: 3, isStale: true } }, undefined],
    ["the leader is silent", { 2: { term: 5, leader: 3 }, 3: { isStale: true } }, undefined],
    ["it is this replica, which knows better", { 2: { term: 7, leader: 1 } }, undefined],
    ["it is somebody unheard of", { 2: { term: 5, leader: 8 } }, 8],
  ])("when %s", (_, said, hint) => {
    expect(leaderHint(peersOf(said), { self: 1, term: 5 })).toBe(hint as number);
  });
});

describe("servingMembers()", () => {
  const members = [{ id: 1 }, { id: 2 }, { id: 3 }];
  test.each<[string, Record<number, Said>, number[]]>([
    ["all where gossip is off", {}, [1, 2, 3]],
    ["not who is not ready", { 2: { ready: false }, 3: {} }, [1, 3]],
    ["not who went silent", { 2: {}, 3: { isStale: true } }, [1, 2]],
    ["this replica, whatever is said of it", { 1: { ready: false }, 2: { ready: false }, 3: { ready: false } }, [1]],
    ["no one outside the membership", { 9: {} }, [1, 2, 3]],
  ])("are %s", (_, said, serving) => {
    expect(servingMembers(members, peersOf(said), 1).map(({ id }) => id)).toEqual(serving);
  });
});
