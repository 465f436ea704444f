/** Texts of one type by field name; `""` is the type itself. */
export type TypeDescriptions = Readonly<Record<string, string>>;
