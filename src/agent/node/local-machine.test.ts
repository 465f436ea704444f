import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { localMachine } from "./local-machine.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
afterAll(() => rmSync(directory, { recursive: true }));

const files: Readonly<Record<string, string>> = {
  "etc/machine-id": "0123\n",
  "etc/os-release": 'NAME="Test"\nPRETTY_NAME="Test OS 12"\n',
  "proc/sys/kernel/random/boot_id": "boot\n",
  "proc/meminfo": "MemTotal:        8148328 kB\nMemFree: 1 kB\nMemAvailable:    4000000 kB\nSwapTotal:       1024 kB\n",
  "proc/loadavg": "0.1 0.2 0.3 2/345 6789\n",
  "proc/sys/kernel/pid_max": "4194304\n",
  "proc/sys/kernel/threads-max": "63000\n",
  "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "256\n",
  "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}
const machine = localMachine({ rootDirectory: directory, systemRoot: directory });

test("a machine is described by its operating system", async () => {
  const info = await machine.info();
  expect(info).toMatchObject({
    capacity: { memory: "8148328Ki", "hugepages-2Mi": "512Mi", "hugepages-1Gi": "0" },
    swapBytes: 1_048_576,
    machineId: "0123",
    systemUuid: "0123",
    bootId: "boot",
    osImage: "Test OS 12",
  });
  expect(Number(info.capacity["cpu"])).toBeGreaterThan(0);
  expect(info.capacity["ephemeral-storage"]).toMatch(/^\d+([KMGTP]i)?$/);
  expect(info.addresses.length).toBeGreaterThan(0);
});

test("its supplies are what is left of memory, disk and process ids", async () => {
  const usage = await machine.usage();
  expect(usage["memory.available"]).toEqual({ available: 4_096_000_000, capacity: 8_343_887_872 });
  expect(usage["pid.available"]).toEqual({ available: 62_655, capacity: 63_000 });
  const { available = Number.NaN, capacity = Number.NaN } = usage["nodefs.available"] ?? {};
  expect(available).toBeLessThanOrEqual(capacity);
});

test("a machine that tells nothing still has a node", async () => {
  const silent = localMachine({ rootDirectory: join(directory, "absent"), systemRoot: join(directory, "absent") });
  const { capacity, addresses, osImage } = await silent.info();
  expect(Object.keys(capacity)).toEqual(["cpu", "memory"]);
  expect([addresses.length > 0, osImage]).toEqual([true, process.platform]);
  expect(Object.keys(await silent.usage())).toEqual(["memory.available"]);
});
