/** The typesetter and its fonts as a separate chunk, loaded only when a formula is shown. */
import katex from "katex";
import "katex/contrib/copy-tex";
import "katex/dist/katex.min.css";
import "../../styles/math.css";

export default katex;
