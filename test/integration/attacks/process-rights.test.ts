import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";

const deploy = join(import.meta.dir, "../../../deploy");
const text = (path: string) => readFileSync(join(deploy, path), "utf8");

test.each([
  "DynamicUser=yes",
  "NoNewPrivileges=yes",
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "PrivateTmp=yes",
  "CapabilityBoundingSet=",
  "UMask=0077",
])("attack 76: the service of systemd has %s", (line) => {
  expect(text("systemd/quorate.service").split("\n")).toContain(line);
});

test("attack 76: containers run as an ordinary user, on a system that they cannot write, without capabilities", () => {
  expect(text("container/Dockerfile")).toMatch(/^USER [1-9]\d*$/m);
  const { "x-replica": replica } = load(text("container/compose.yaml")) as Record<string, unknown>;
  expect(replica).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
});
