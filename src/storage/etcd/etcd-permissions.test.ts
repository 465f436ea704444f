import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writer } from "protobufjs/light.js";
import { certificatesIn } from "../../../test/etcd/etcd-certificates.ts";
import { EtcdMember, hasEtcd } from "../../../test/etcd/etcd-member.ts";
import { StartupError } from "../../process/startup-error.ts";
import { openTestStore } from "./testing.ts";

setDefaultTimeout(30_000);

/** The tag of a field with bytes, and of a field with a number. */
const bytesTag = (field: number) => field * 8 + 2;
const numberTag = (field: number) => field * 8;
/** A permission to read and to write. */
const readWrite = 2;

type Part = Uint8Array | string;

/** Encodes fields 1, 2 and so on. */
function message(...parts: readonly Part[]): Uint8Array {
  const writer = Writer.create();
  for (const [at, part] of parts.entries()) writer.uint32(bytesTag(at + 1)).bytes(Buffer.from(part));
  return writer.finish();
}

function permission(key: string, rangeEnd: string): Uint8Array {
  const writer = Writer.create().uint32(numberTag(1)).uint32(readWrite);
  return writer.uint32(bytesTag(2)).bytes(Buffer.from(key)).uint32(bytesTag(3)).bytes(Buffer.from(rangeEnd)).finish();
}

if (hasEtcd("etcd-permissions.test.ts")) {
  test("a user that may not watch all keys is told so at the start", async () => {
    const directory = await mkdtemp(join(tmpdir(), "quorate-etcd-auth-"));
    const tls = await certificatesIn(directory, "limited");
    await using member = await EtcdMember.start({ tls });
    using connection = member.connect();
    const request = async (name: string, ...parts: readonly Part[]) => {
      const coding = { encode: () => Buffer.from(message(...parts)), decode: () => ({}) };
      await connection.call({ path: `/etcdserverpb.Auth/${name}`, request: coding, response: coding }, {}, 5_000);
    };
    await request("RoleAdd", "root");
    await request("RoleAdd", "objects");
    await request("RoleGrantPermission", "objects", permission("/registry/", "/registry0"));
    await request("RoleGrantPermission", "objects", permission("compact_rev_key", "compact_rev_kez"));
    for (const [user, role] of [
      ["root", "root"],
      ["limited", "objects"],
    ] as const) {
      await request("UserAdd", user, "secret");
      await request("UserGrantRole", user, role);
    }
    await request("AuthEnable");
    const opening = openTestStore([member.url], { files: tls });
    await expect(opening).rejects.toBeInstanceOf(StartupError);
    // Only the reason of a cancelled watch names the code.
    await expect(opening).rejects.toThrow("PermissionDenied desc = etcdserver: permission denied: give the user");
    await rm(directory, { recursive: true });
  });
}
