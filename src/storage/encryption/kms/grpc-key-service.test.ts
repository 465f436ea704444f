import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GrpcKeyService } from "./grpc-key-service.ts";
import { KeyServiceError } from "./key-service.ts";
import { KmsPlugin, recordingObserver } from "./testing.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-kms-"));
afterAll(() => rmSync(directory, { recursive: true }));

const path = join(directory, "kms.sock");
const seed = Buffer.alloc(32, 7);

test("the three calls reach a plugin, errors keep their code, and a plugin that restarts is found again", async () => {
  const observer = recordingObserver();
  using service = new GrpcKeyService({ provider: "p", path, timeoutMs: 10_000, observer });
  await using plugin = new KmsPlugin(path);
  // The call waits for the plugin.
  const early = service.status();
  await plugin.start();
  expect({ ...(await early) }).toEqual({ version: "v2", healthz: "ok", keyId: "key-1" });
  const encrypted = await service.encrypt("uid-1", seed);
  expect([encrypted.keyId, Object.keys(encrypted.annotations)]).toEqual(["key-1", ["fake.example.com"]]);
  expect(Buffer.from(await service.decrypt("uid-2", encrypted))).toEqual(seed);
  const error = await service.decrypt("uid-3", { ...encrypted, annotations: {} }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(KeyServiceError);
  expect([error.code, error.message.startsWith("rpc error: code = Unknown desc = ")]).toEqual(["Unknown", true]);
  plugin.stop();
  const later = service.decrypt("uid-4", encrypted);
  await plugin.start();
  expect(Buffer.from(await later)).toEqual(seed);
  expect(observer.seen).toEqual([
    "p /v2.KeyManagementService/Status OK",
    "p /v2.KeyManagementService/Encrypt OK",
    "p /v2.KeyManagementService/Decrypt OK",
    "p /v2.KeyManagementService/Decrypt Unknown",
    "p /v2.KeyManagementService/Decrypt OK",
  ]);
});

test("a call to a plugin that is not there ends with its time", async () => {
  const observer = recordingObserver();
  using service = new GrpcKeyService({ provider: "p", path: join(directory, "none"), timeoutMs: 100, observer });
  const error = await service.status().catch((thrown) => thrown);
  expect(error.message).toBe("rpc error: code = DeadlineExceeded desc = context deadline exceeded");
  expect(observer.seen).toEqual(["p /v2.KeyManagementService/Status DeadlineExceeded"]);
});
