import { labelKeyErrors } from "../../api/label-syntax.ts";
import { dnsLabelProblems, dnsSubdomainProblems, pathSegmentProblems } from "../../api/validation/names.ts";

const poolNameBytesMax = 253;

/** Functions that return the problems of a text, by name of its format. Other formats allow anything. */
const formats: ReadonlyMap<string, (text: string) => readonly string[]> = new Map([
  ["k8s-label-key", labelKeyErrors],
  ["k8s-long-name", dnsSubdomainProblems],
  ["k8s-long-name-caseless", (text: string) => dnsSubdomainProblems(text.toLowerCase())],
  ["k8s-path-segment-name", pathSegmentProblems],
  ["k8s-resource-pool-name", poolNameProblems],
  ["k8s-short-name", dnsLabelProblems],
  ["k8s-uuid", uuidProblems],
]);

export function formatProblems(format: string, text: string): readonly string[] {
  return formats.get(format)?.(text) ?? [];
}

/** Returns the problems of a pool name: DNS subdomains separated by slashes. */
function poolNameProblems(text: string): string[] {
  const problems = text.split("/").flatMap(dnsSubdomainProblems);
  return text.length > poolNameBytesMax ? [...problems, `must be no more than ${poolNameBytesMax} bytes`] : problems;
}

function uuidProblems(text: string): string[] {
  const valid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
  return valid ? [] : ["must be a lowercase UUID in 8-4-4-4-12 format"];
}
