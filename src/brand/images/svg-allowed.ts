const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** What draws, and nothing that runs, loads, links, moves or holds another language. A marker is drawn at each corner of a path. */
export const allowedElements = words(`
  svg g defs symbol use title desc style
  path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath mask pattern
`);

export const allowedAttributes = words(`
  id class style version xmlns x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy d points width height viewBox transform
  preserveAspectRatio gradientUnits gradientTransform spreadMethod offset clipPathUnits maskUnits maskContentUnits
  patternUnits patternContentUnits patternTransform refX refY href
  fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-dasharray stroke-dashoffset opacity color display visibility overflow clip-path clip-rule mask marker-start
  marker-mid marker-end stop-color stop-opacity paint-order shape-rendering text-rendering color-interpolation
  vector-effect font-family font-size font-weight font-style letter-spacing word-spacing text-anchor
  dominant-baseline alignment-baseline baseline-shift textLength lengthAdjust rotate pathLength
  enable-background isolation mix-blend-mode role lang type media focusable data-name aria-label aria-hidden
  aria-labelledby mask-type transform-origin
`);

/** The functions of CSS that load nothing. `url` may only name an element of the image. */
export const allowedFunctions = words(`
  rgb rgba hsl hsla calc var matrix translate translatex translatey scale scalex scaley rotate skewx skewy
`);
