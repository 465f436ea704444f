import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type RunningServer, type ServerOptions, startServer as startAny } from "../../src/index.ts";
import { EtcdMember, etcdBinary } from "./etcd-member.ts";

/** Whether servers of tests keep their objects in etcd: `TEST_STORE=etcd bun test test/conformance`. */
const isOnEtcd = Bun.env.TEST_STORE === "etcd";

/** Starts a server as the product does, or one with an etcd of its own. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  if (!isOnEtcd) return startAny(options);
  if (etcdBinary === undefined) throw new Error("TEST_STORE=etcd needs an etcd on the PATH");
  const { dataDir } = options;
  const etcd = dataDir === undefined ? await EtcdMember.start() : await memberIn(dataDir);
  const server = await startAny({ ...options, etcdServers: [etcd.url] });
  return {
    ...server,
    async close(grace) {
      await server.close(grace);
      if (dataDir === undefined) await etcd[Symbol.asyncDispose]();
      else await etcd.kill();
    },
  };
}

/** The etcd in each data directory. It stops with its server, and starts again with the next one there. */
const members = new Map<string, EtcdMember>();

async function memberIn(dataDir: string): Promise<EtcdMember> {
  const known = members.get(dataDir);
  if (known !== undefined) {
    known.spawn();
    await known.ready();
    return known;
  }
  const directory = join(dataDir, "etcd");
  await mkdir(directory, { recursive: true });
  const etcd = await EtcdMember.start({ directory });
  members.set(dataDir, etcd);
  return etcd;
}
