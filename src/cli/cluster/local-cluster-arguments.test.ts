import { expect, test } from "bun:test";
import { Command } from "commander";
import { addServerFlags, toServerOptions } from "../server-flags.ts";
import { serverArguments } from "./local-cluster-arguments.ts";

function parsed(args: readonly string[]) {
  const command = addServerFlags(new Command().exitOverride());
  command.parse([...args], { from: "user" });
  return toServerOptions(command.opts());
}

test.each([
  [["--data-dir", "/tmp/with space", "--secure-port=0"]],
  [["--gossip=false", "--history-retention-duration", "1m30s", "--min-request-timeout=7"]],
  [["--authorization-mode=Node,RBAC", "--tls-san=a.example", "--tls-san", "b.example"]],
  [["--feature-gates=AllBeta=true", "--feature-gates", "AllAlpha=false", "--runtime-config=api/beta", "-v4"]],
])("%j comes out of a command line as it went in", (args) => {
  const options = parsed(args);
  expect(parsed(serverArguments(options))).toEqual(options);
});

test("flags that were not given are not passed on", () => {
  expect(serverArguments({})).toEqual([]);
});
