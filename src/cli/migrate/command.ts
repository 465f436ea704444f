import { resolve } from "node:path";
import type { Command } from "commander";
import { StartupError } from "../../process/startup-error.ts";
import { etcdOptionsOf } from "../../server/config/etcd.ts";
import { flags } from "../../server/config/flags.ts";
import type { Terminal } from "../terminal.ts";
import type { MigrateOptions } from "./migrate-options.ts";

/** Runs a migration. Its code is loaded when it is needed. */
export async function migrate(options: MigrateOptions, terminal: Terminal): Promise<number> {
  if (options.direction === "fromEtcd") return (await import("./from-etcd.ts")).migrateFromEtcd(options, terminal);
  return (await import("./to-etcd.ts")).migrateToEtcd(options, terminal);
}

/** Adds `migrate` to the program. */
export function addMigrateCommand(program: Command, run: (options: MigrateOptions) => Promise<void>): void {
  program
    .command("migrate")
    .description("copy all objects from an etcd into a new data directory, or back")
    .allowExcessArguments(false)
    .option("--from-etcd <url,…>", "etcd to copy from, whose API servers are stopped")
    .option("--to <dir>", "data directory to make; must be empty or absent")
    .option("--from <dir>", "data directory to copy from, whose server is stopped")
    .option("--to-etcd <url,…>", "etcd to copy to")
    .option("--etcd-prefix <prefix>", flags["etcd-prefix"].help, flags["etcd-prefix"].default)
    .option("--etcd-cafile <file>", "authorities of etcd's serving certificates, PEM (default those of the system)")
    .option("--etcd-certfile <file>", "client certificate for etcd, PEM")
    .option("--etcd-keyfile <file>", "private key of --etcd-certfile, PEM")
    .option("--encryption-provider-config <file>", "keys of encrypted objects; both sides are encrypted with them")
    .option("--dry-run", "say what would be copied, and what would be refused")
    .action((values: MigrateFlags) => run(optionsOf(values)));
}

interface MigrateFlags {
  readonly fromEtcd?: string;
  readonly to?: string;
  readonly from?: string;
  readonly toEtcd?: string;
  readonly etcdPrefix: string;
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly encryptionProviderConfig?: string;
  readonly dryRun?: true;
}

/** @throws StartupError */
function optionsOf(values: MigrateFlags): MigrateOptions {
  const { fromEtcd, to, from, toEtcd, etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile } = values;
  const isFromEtcd = fromEtcd !== undefined && to !== undefined && from === undefined && toEtcd === undefined;
  const isToEtcd = from !== undefined && toEtcd !== undefined && fromEtcd === undefined && to === undefined;
  if (!isFromEtcd && !isToEtcd) {
    throw new StartupError("migrate needs two sides: give --from-etcd and --to, or --from and --to-etcd");
  }
  const etcd = etcdOptionsOf({
    etcdServers: (fromEtcd ?? toEtcd ?? "").split(","),
    etcdPrefix,
    etcdCafile,
    etcdCertfile,
    etcdKeyfile,
  });
  if (etcd === undefined) throw new StartupError("no etcd is named: give its URL");
  const { encryptionProviderConfig: encryption, dryRun = false } = values;
  return {
    direction: isFromEtcd ? "fromEtcd" : "toEtcd",
    directory: resolve(to ?? from ?? ""),
    etcd,
    encryption,
    dryRun,
  };
}
