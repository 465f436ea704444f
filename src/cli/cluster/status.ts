import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { type ClusterReport, clusterReport, type MemberReport } from "../../cluster/cluster-report.ts";
import type { EncryptedResources } from "../../storage/encryption/resource-transformers.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `quorate status`. Returns 1 unless a quorum of voters is healthy and there is a leader. */
export async function showStatus(client: ClusterClient, output: "table" | "json", terminal: Terminal): Promise<number> {
  const report = await clusterReport(client);
  if (output === "json") terminal.print(JSON.stringify(report, null, 2));
  else
    for (const line of [...summary(report), "", ...tableLines(rows(report)), ...problems(report)]) terminal.print(line);
  const { well, all } = report.voters;
  return report.leader !== undefined && well > all / 2 ? 0 : 1;
}

function summary({
  clusterId,
  leader,
  term,
  revision,
  commitIndex,
  voters,
  encryption,
  members,
}: ClusterReport): string[] {
  const name = members.find(({ id }) => id === leader)?.name;
  return tableLines([
    ["Cluster:", clusterId],
    ["Leader:", leader === undefined ? "none" : `${leader} (${name ?? "?"}), term ${term}`],
    ["Revision:", `${revision}, log index ${commitIndex}`],
    ["Voters:", `${voters.well} of ${voters.all} are healthy`],
    ...(encryption === undefined ? [] : [["Encrypted:", encryptionText(encryption)]]),
  ]);
}

/** Names the encrypted resources and the provider that writes each: `secrets (aescbc), *.apps (secretbox)`. */
function encryptionText(rules: readonly EncryptedResources[]): string {
  const encrypted = rules.filter(({ providers }) => providers[0] !== "identity");
  if (encrypted.length === 0) return "nothing";
  return encrypted.map(({ resources, providers }) => `${resources} (${providers[0]})`).join(", ");
}

function rows({ members }: ClusterReport): string[][] {
  return [
    ["ID", "NAME", "ROLE", "HEALTH", "APPLIED", "LAG", "OBJECTS", "LOG", "VERSION", "CLIENT URL"],
    ...members.map((member) => [
      String(member.id),
      member.name,
      member.role,
      member.health,
      cell(member.appliedIndex),
      cell(member.lag),
      cell(member.objects),
      member.logBytes === undefined ? "-" : bytesText(member.logBytes),
      member.version ?? "-",
      member.clientUrl,
    ]),
  ];
}

function problems({ members }: ClusterReport): string[] {
  const told = members.filter((member): member is MemberReport & { problem: string } => member.problem !== undefined);
  return told.length === 0 ? [] : ["", ...told.map(({ id, problem }) => `member ${id}: ${problem}`)];
}

function cell(value: number | undefined): string {
  return value === undefined ? "-" : String(value);
}

/** Formats bytes as a quantity such as `1.5Mi`. */
export function bytesText(bytes: number): string {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)}${units[unit]}`;
}
