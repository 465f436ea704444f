import { type DerElement, derElements } from "./der-elements.ts";
import { pemBlocks } from "./pem.ts";

const blockType = "CERTIFICATE REQUEST";
const attributesTag = 0xa0;
/** Object identifiers by the hex of their content. */
const identifier = {
  commonName: "550403",
  organization: "55040a",
  extensionRequest: "2a864886f70d01090e",
  subjectAltName: "551d11",
} as const;
/** Tags of the alternative names of RFC 5280, 4.2.1.6. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;

/** The contents of a PKCS #10 request. Its signature is checked when the object is created. */
export interface CertificateRequest {
  /** Name as DER, as the client wrote it. */
  readonly subject: Buffer;
  /** Common name; undefined unless it occurs once. */
  readonly commonName: string | undefined;
  readonly organizations: readonly string[];
  /** Key as DER. */
  readonly publicKeyInfo: Buffer;
  /** DER of the extension's value; undefined without one. */
  readonly alternativeNames: Buffer | undefined;
  /** Number of names of each kind. */
  readonly nameCounts: Readonly<Record<keyof typeof nameTags, number>>;
}

/** Parses a request, or returns undefined. */
export function parseCertificateRequest(pem: string): CertificateRequest | undefined {
  const [block] = pemBlocks(pem);
  if (block?.type !== blockType) return undefined;
  const [info] = derElements(derElements(block.der)[0]?.content);
  const [, subject, publicKeyInfo, ...rest] = derElements(info?.content);
  if (subject === undefined || publicKeyInfo === undefined) return undefined;
  const attributes = rest.find(({ tag }) => tag === attributesTag);
  const alternativeNames = requestedNames(attributes);
  const commonNames = namesIn(subject, identifier.commonName);
  return {
    subject: subject.bytes,
    commonName: commonNames.length === 1 ? commonNames[0] : undefined,
    organizations: namesIn(subject, identifier.organization),
    publicKeyInfo: publicKeyInfo.bytes,
    alternativeNames,
    nameCounts: countNames(alternativeNames),
  };
}

/** Returns the texts of a type. A name is a sequence of sets of pairs of type and text. */
function namesIn(subject: DerElement, type: string): string[] {
  return derElements(subject.content).flatMap((set) =>
    derElements(set.content).flatMap((pair) => {
      const [kind, text] = derElements(pair.content);
      return kind?.content.toString("hex") === type && text !== undefined ? [text.content.toString("utf8")] : [];
    }),
  );
}

function requestedNames(attributes: DerElement | undefined): Buffer | undefined {
  for (const attribute of derElements(attributes?.content)) {
    const [type, values] = derElements(attribute.content);
    if (type?.content.toString("hex") !== identifier.extensionRequest) continue;
    const [extensions] = derElements(values?.content);
    for (const extension of derElements(extensions?.content)) {
      const parts = derElements(extension.content);
      if (parts[0]?.content.toString("hex") === identifier.subjectAltName) return parts.at(-1)?.content;
    }
  }
  return undefined;
}

function countNames(alternativeNames: Buffer | undefined): CertificateRequest["nameCounts"] {
  const [names] = derElements(alternativeNames);
  const tags = derElements(names?.content).map(({ tag }) => tag);
  const count = (wanted: number) => tags.filter((tag) => tag === wanted).length;
  return {
    email: count(nameTags.email),
    dns: count(nameTags.dns),
    uri: count(nameTags.uri),
    ip: count(nameTags.ip),
  };
}
