import { afterAll, setDefaultTimeout } from "bun:test";
import { storeContract } from "../../../test/contract/store-contract.ts";
import { EtcdMember, hasEtcd } from "../../../test/etcd/etcd-member.ts";
import { openTestStore } from "./testing.ts";

if (hasEtcd("etcd-store.test.ts")) {
  setDefaultTimeout(60_000);
  const members: EtcdMember[] = [];
  afterAll(async () => {
    for (const member of members) await member[Symbol.asyncDispose]();
  });
  storeContract(
    "EtcdStore",
    async () => {
      // Every test expects the first revision.
      for (const member of members.splice(0)) await member[Symbol.asyncDispose]();
      const member = await EtcdMember.start();
      members.push(member);
      return (await openTestStore([member.url])).store;
    },
    { ordersWrites: false },
  );
}
