/**
 * A replicated counter. Make certificates (`certificates.ts`) in a directory, then run there for id 1, 2 and 3: `bun
 * counter.ts <id> <directory> 7000`. Try `curl localhost:7001/apples/5; curl localhost:7003/apples`.
 */
import { join } from "node:path";
import * as raft from "../index.ts";
import { readCertificates } from "./certificates.ts";
import { CounterState } from "./counter-state.ts";

const [id, directory = ".", port] = [Number(Bun.argv[2]), Bun.argv[3], Number(Bun.argv[4])];
const owner = { clusterId: "counter", memberId: raft.toMemberId(id) };
const own = join(directory, `member-${id}`);
const membership = raft.membershipOf([1, 2, 3].map(raft.toMemberId));
if (!raft.logExists(own)) await raft.createLog(own, owner, raft.foundedBy(membership));
const { log, starts } = await raft.openLog(own, owner);

const addressOf = (member: number) => ({ host: "127.0.0.1", port: port + 10 + member });
const tls = () => readCertificates(directory, id);
const transport = new raft.TlsTransport({ ...owner, starts, listen: addressOf(id), addressOf, tls });
const stateMachine = new CounterState(join(own, "counter.json"));
const node = await raft.RaftNode.start({ id: owner.memberId, log, transport, stateMachine });

async function answer(name: string, number: string | undefined): Promise<number> {
  if (number !== undefined) return (await node.propose(new TextEncoder().encode(`${name} ${number}`))).result;
  await node.readIndex();
  return stateMachine.sums.get(name) ?? 0;
}

Bun.serve({
  hostname: "127.0.0.1",
  port: port + id,
  fetch: ({ url }) => {
    const [, name = "", number] = new URL(url).pathname.split("/");
    const failure = (error: Error) => new Response(`${error.message}\n`, { status: 503 });
    return answer(name, number).then((sum) => new Response(`${sum}\n`), failure);
  },
});
