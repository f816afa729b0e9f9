import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TemplateMeta } from "pennymail";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { PagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { PagedGrid } from "../../parts/paged-grid.tsx";

interface TemplateGridProps {
  list: PagedRows<TemplateMeta>;
  timezone: string;
  /** In place of the templates when there are none. */
  empty: ReactNode;
}

/** Templates with a small picture of each. */
export const TemplateGrid = ({ list, timezone, empty }: TemplateGridProps) => (
  <PagedGrid
    label={t("Templates")}
    className="template-grid"
    list={list}
    keyOf={({ id }) => id}
    skeletonHeight={260}
    empty={empty}
    render={({ id, name, subject, version, updatedAt }) => (
      <Link to="/templates/$id" params={{ id }}>
        <Thumbnail id={id} version={version} />
        <b>{name}</b>
        <span>{subject}</span>
        <small>{formatAgo(updatedAt, timezone)}</small>
      </Link>
    )}
  />
);

/** The width of an email in a mail program, which the picture shows smaller. */
const emailWidth = 640;

/**
 * Shows the email as its recipients get it. Only an email that is in view has a frame, because
 * many frames make the page slow. Screen readers read the name beside it.
 */
function Thumbnail({ id, version }: Pick<TemplateMeta, "id" | "version">) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const element = box.current!;
    const watcher = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), {
      rootMargin: "100px",
    });
    const sizes = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    sizes.observe(element);
    return () => {
      watcher.disconnect();
      sizes.disconnect();
    };
  }, []);
  const { data, error } = useQuery({ ...queries.thumbnail(id, version), enabled: isNear });
  return (
    <div ref={box} className="thumbnail" aria-hidden inert>
      {isNear && data !== undefined && <ThumbnailFrame html={data} scale={width / emailWidth} />}
      {isNear && data === undefined && !error && <Skeleton h="100%" />}
    </div>
  );
}

/** The frame has the policy of email previews, and its sandbox runs no scripts. */
function ThumbnailFrame({ html, scale }: { html: string; scale: number }) {
  const [root, setRoot] = useState<HTMLElement>();
  useEffect(() => {
    if (root) root.innerHTML = html;
  }, [root, html]);
  return (
    <iframe
      title={t("Preview")}
      src="/app/preview"
      sandbox="allow-same-origin"
      tabIndex={-1}
      scrolling="no"
      style={{ transform: `scale(${scale})` }}
      onLoad={({ currentTarget }) => setRoot(currentTarget.contentDocument?.documentElement)}
    />
  );
}
