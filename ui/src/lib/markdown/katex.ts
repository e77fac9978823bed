/** The typesetter of formulas with its fonts, by itself: whoever is shown none does without it. */
import katex from "katex";
import "katex/contrib/copy-tex";
import "katex/dist/katex.min.css";
import "../../styles/math.css";

export default katex;
