import { endingOf } from "../../providers/limits.ts";
import { unknownType } from "../../providers/provider-http.ts";

const office = "application/vnd.openxmlformats-officedocument";
const types: Record<string, string> = {
  avi: "video/x-msvideo",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  doc: "application/msword",
  docx: `${office}.wordprocessingml.document`,
  eml: "message/rfc822",
  eps: "application/postscript",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  m4a: "audio/mp4",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odt: "application/vnd.oasis.opendocument.text",
  pdf: "application/pdf",
  pkpass: "application/vnd.apple.pkpass",
  png: "image/png",
  ppt: "application/vnd.ms-powerpoint",
  pptx: `${office}.presentationml.presentation`,
  rtf: "application/rtf",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain",
  vcf: "text/vcard",
  wav: "audio/wav",
  webp: "image/webp",
  xls: "application/vnd.ms-excel",
  xlsx: `${office}.spreadsheetml.sheet`,
  xml: "application/xml",
  zip: "application/zip",
};

/** Longest base64 of a file in a request: 10 MB need 14 million characters, and line breaks. */
export const maxContentLength = 20_000_000;

const endings = new Map(
  Object.entries(types)
    .toReversed()
    .map(([ending, type]) => [type, ending]),
);

/** The usual ending of a file whose name is not known, such as `pdf`. Empty if there is none. */
export const endingOfType = (type: string): string => endings.get(type.toLowerCase()) ?? "";

/** The content type of a file of which only the name is known. */
export const typeOf = (filename: string): string => types[endingOf(filename)] ?? unknownType;
