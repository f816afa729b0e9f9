// The page of the API reference. Scalar (github.com/scalar/scalar) renders the OpenAPI document.
import { createHash } from "node:crypto";
import { html } from "../../kernel/html.ts";
import { basePath } from "../route.ts";

/** The name changes with the version of the package, so that browsers can keep the script. */
export const scriptName = "scalar-1.72.1.js";

const hiddenLanguages =
  "c clojure csharp dart fsharp go http java julia kotlin node objc ocaml php powershell r ruby " +
  "rust swift";

// Darker greys and colours on white, lighter ones on black: the default ones have too little
// contrast. Scalar focuses the section of a link, which needs no frame. The guides
// need more width than the settings beside them.
const customCss = `
.light-mode { --scalar-color-2: #616161; --scalar-color-3: #666; --scalar-color-green: #00784b;
  --scalar-color-blue: #006bad; --scalar-color-orange: #b34700; --scalar-color-red: #c80000 }
.dark-mode { --scalar-color-3: #999; --scalar-color-red: #ff6b6b }
section:focus-visible { outline: none }
.introduction-section .section-column:first-child { flex: 1.4 }`;

const options = {
  url: `${basePath}/openapi.json`,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  hiddenClients: {
    ...Object.fromEntries(hiddenLanguages.split(" ").map((language) => [language, true])),
    shell: ["httpie", "wget"],
    js: ["axios", "jquery", "ofetch", "xhr"],
    python: ["aiohttp", "httpx_async", "httpx_sync", "python3"],
  },
  authentication: { preferredSecurityScheme: "apiKey" },
  documentDownloadType: "direct",
  hideModels: true,
  customCss,
  // The page loads nothing from other hosts and sends nothing to them.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
};

// Requests go to the origin of the page, also if the service has several.
// The observer adds the names and tab stops that the markup of Scalar lacks.
const startScript = `
const options = ${JSON.stringify(options)};
function mendMarkup() {
  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  each("code.custom-scroll:not([tabindex])", (code) => { code.tabIndex = 0; });
  each(".scalar-code-copy:not([aria-label])", (button) => { button.ariaLabel = "Copy"; });
  each(".show-more[aria-label^='Show all ']", (button) => {
    button.ariaLabel = button.ariaLabel.replace("Show all", button.innerText.trim() + ":");
  });
  each(".response-card[role=region]", (card) => { card.role = "group"; });
}
new MutationObserver(mendMarkup).observe(document.body, { childList: true, subtree: true });
Scalar.createApiReference("#reference", {
  ...options,
  servers: [{ url: location.origin }],
  generateOperationSlug: ({ operationId }) => operationId,
});
`;

const startScriptHash = createHash("sha256").update(startScript).digest("base64");

export const referencePolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${startScriptHash}'`,
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 " +
  "16'%3E%3Crect y='2' width='16' height='12' rx='2' fill='%239a4a22'/%3E%3Cpath d='M1 4l7 5 " +
  "7-5' fill='none' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E";

export const referencePage = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pennymail API reference</title>
<link rel="icon" href="${icon}">
<link rel="preload" href="${options.url}" as="fetch" crossorigin>
<noscript><style>#reference { display: none }</style></noscript>
</head>
<body>
<noscript>This page needs JavaScript; the <a href="${options.url}">OpenAPI document</a> has the same
content.</noscript>
<div id="reference">Loading the API reference…</div>
<script src="${basePath}/docs/${scriptName}"></script>
<script>${{ html: startScript }}</script>
</body>
</html>
`.html;
