export const dnsLabelBytesMax = 63;
export const dnsSubdomainBytesMax = 253;

/** Reports whether the characters are those of a DNS label (RFC 1123), of any length. */
export function isDnsLabel(text: string): boolean {
  return /^[-a-z0-9]+$/.test(text) && !text.startsWith("-") && !text.endsWith("-");
}

/** Reports whether a text is a DNS subdomain (RFC 1123), as most names of objects are. */
export function isDnsSubdomain(text: string): boolean {
  return Buffer.byteLength(text) <= dnsSubdomainBytesMax && text.split(".").every((part) => isDnsLabel(part));
}
