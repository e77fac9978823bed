//! Whether an element is what is pressed where it is.

use super::{
    ActError, Cover, LIMIT,
    place::{node, session},
    spot::Spot,
};
use crate::{
    Frame, Page, PageError,
    cdp::{
        browser_protocol::{
            dom::{BackendNodeId, GetFrameOwnerParams, GetNodeForLocationParams, GetNodeForLocationReturns},
            page::VisualViewport,
            target::SessionId,
        },
        js_protocol::runtime::CallArgument,
    },
    snapshot::{DocumentId, Place},
};

/// Where an element can be pressed.
pub(super) struct Pressable {
    /// In its session.
    pub point: (f64, f64),
    /// In the page as it is seen.
    pub on_page: (f64, f64),
    /// How far the page shows its session's corner from its own.
    pub shift: (f64, f64),
    pub spot: Spot,
    /// What was seen of its session's page then.
    view: VisualViewport,
    /// What is pressed there: the element itself, or a part of it.
    hit: BackendNodeId,
}

/// What is at a point of an element.
enum Hit {
    /// The element, or what presses it: this node.
    Its(BackendNodeId),
    /// Something else.
    Another(Cover),
}

/// The points of an element at which it may be pressed, the best first: something of its own may cover its middle.
const POINTS: [(f64, f64); 5] = [(0.5, 0.5), (0.25, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75)];

/// What is pressed where the element should be: null for the element itself, a part of it or the label that presses
/// it, and otherwise the words of what covers it.
const COVER: &str = "function(hit) {
    const above = (node) => node.parentNode || node.host || null;
    const control = (node) => node.localName === 'label' ? node.control : null;
    for (let node = hit; node; node = above(node)) if (node === this || control(node) === this) return null;
    for (let node = this; node; node = above(node)) if (node === hit && control(node)) return null;
    return ('object' === typeof hit && hit) ? words.call(hit) : null;
}";

/// What something is called that is in the way.
const WORDS: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement || this;
    const get = (name) => one.getAttribute ? one.getAttribute(name) : null;
    const text = (get('aria-label') || get('title') || get('alt') || one.innerText || '').trim().replace(/\\s+/g, ' ');
    return (one.localName || 'page') + (one.id ? '#' + one.id : '') + (text ? ' \"' + text.slice(0, 80) + '\"' : '');
}";

/// Moves an element to the middle of what is seen, where fixed headers are not.
const CENTRE: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement;
    if (one) one.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
}";

impl Page {
    /// Scrolls to an element and finds a point at which it, and nothing else, is pressed. What covers it may be a
    /// header that stays while the page moves: it is tried in the middle as well.
    pub(super) async fn pressable(&self, place: &Place) -> Result<Pressable, ActError> {
        match self.pressable_now(place).await {
            Err(ActError::Covered(_)) => {
                self.ask(place, CENTRE, Vec::new()).await?;
                self.pressable_now(place).await
            }
            tried => tried,
        }
    }

    /// Whether an element is still what is pressed at the point at which it was found to be.
    pub(super) async fn is_still_at(&self, place: &Place, found: &Pressable) -> Result<bool, ActError> {
        Ok(self.cover_at(place, found).await?.is_none())
    }

    /// What is pressed instead of an element at the point at which it was found to be.
    pub(super) async fn cover_at(&self, place: &Place, found: &Pressable) -> Result<Option<Cover>, ActError> {
        let on = session(place);
        // Asked together, for a page that did not scroll since.
        let (hit, view) = tokio::join!(self.hit(&on, found.point, &found.view), self.seen(&on));
        let view = view?;
        if (view.page_x, view.page_y) == (found.view.page_x, found.view.page_y)
            && hit.is_ok_and(|hit| hit.backend_node_id == found.hit)
        {
            return Ok(None);
        }
        Ok(match self.hit_at(place, found.point, &view).await? {
            Hit::Its(_) => None,
            Hit::Another(cover) => Some(cover),
        })
    }

    /// What is pressed instead of an element at another point.
    pub(super) async fn cover_there(
        &self,
        place: &Place,
        found: &Pressable,
        point: (f64, f64),
    ) -> Result<Option<Cover>, ActError> {
        Ok(match self.hit_at(place, point, &found.view).await? {
            Hit::Its(_) => None,
            Hit::Another(cover) => Some(cover),
        })
    }

    async fn pressable_now(&self, place: &Place) -> Result<Pressable, ActError> {
        let seen = self.parts(place).await?;
        self.pressable_in(place, seen).await
    }

    /// The same without scrolling to it.
    pub(super) async fn pressable_where_it_is(&self, place: &Place) -> Result<Pressable, ActError> {
        let seen = self.parts_where_they_are(place).await?;
        self.pressable_in(place, seen).await
    }

    async fn pressable_in(
        &self,
        place: &Place,
        (parts, view): (Vec<Spot>, VisualViewport),
    ) -> Result<Pressable, ActError> {
        let mut covered = None;
        for spot in parts.iter().take(4) {
            for (x, y) in POINTS {
                let point = spot.at(x, y);
                let cover = match self.hit_at(place, point, &view).await? {
                    Hit::Its(hit) => match self.through_frames(place, point).await? {
                        Ok(on_page) => {
                            let shift = (on_page.0 - point.0, on_page.1 - point.1);
                            return Ok(Pressable { point, on_page, shift, spot: *spot, view, hit });
                        }
                        Err(cover) => cover,
                    },
                    Hit::Another(cover) => cover,
                };
                covered.get_or_insert(cover);
            }
        }
        Err(covered.map_or(ActError::NoRoom, ActError::Covered))
    }

    pub(super) async fn hit(
        &self,
        on: &SessionId,
        (x, y): (f64, f64),
        view: &VisualViewport,
    ) -> Result<GetNodeForLocationReturns, PageError> {
        // It counts from the document's corner, and takes whole pixels alone.
        let at = GetNodeForLocationParams {
            x: (x + view.page_x).floor() as i64,
            y: (y + view.page_y).floor() as i64,
            include_user_agent_shadow_dom: Some(false),
            ignore_pointer_events_none: Some(false),
        };
        self.call_in(on, at, LIMIT).await
    }

    /// What is pressed at a point of an element's session: it, or what covers it.
    async fn hit_at(&self, place: &Place, point: (f64, f64), view: &VisualViewport) -> Result<Hit, ActError> {
        let on = session(place);
        let hit = match self.hit(&on, point, view).await.map_err(ActError::from) {
            Ok(hit) => hit,
            // "No node found at given location".
            Err(ActError::Page(PageError::Call(crate::CallError::Refused { .. }))) => {
                let words = "nothing that can be pressed".to_owned();
                return Ok(Hit::Another(Cover { place: None, words }));
            }
            Err(error) => return Err(error),
        };
        let its = Hit::Its(hit.backend_node_id);
        if hit.backend_node_id == node(place) {
            return Ok(its);
        }
        if hit.frame_id.inner() != &place.frame {
            // An element that holds the frame is pressed by pressing into the frame.
            let owner = GetFrameOwnerParams::new(hit.frame_id.clone());
            if let Ok(owner) = self.call_in(&on, owner, LIMIT).await
                && owner.backend_node_id == node(place)
            {
                return Ok(its);
            }
            let frames = self.frames().await?;
            let frame = frames.iter().find(|frame| frame.id == hit.frame_id);
            let at = self.place_of_hit(&on, &hit, frame);
            let words = self.ask(&at, WORDS, Vec::new()).await?;
            let words = words.as_str().unwrap_or_default().to_owned();
            return Ok(Hit::Another(Cover { place: Some(at), words }));
        }
        let world = self.world(&on, &place.frame).await?;
        let (target, other) = tokio::try_join!(
            self.object(&on, world, node(place)),
            self.object(&on, world, hit.backend_node_id)
        )?;
        let given = vec![CallArgument { object_id: other, ..Default::default() }];
        let function =
            format!("function(hit) {{ const words = {WORDS}; return ({COVER}).call(this, hit); }}");
        let words = self.ask_object(&on, target, &function, given).await?;
        let at = Place { node: *hit.backend_node_id.inner(), ..place.clone() };
        Ok(match words.as_str() {
            Some(words) => Hit::Another(Cover { place: Some(at), words: words.to_owned() }),
            None => its,
        })
    }

    pub(super) fn place_of_hit(
        &self,
        on: &SessionId,
        hit: &GetNodeForLocationReturns,
        frame: Option<&Frame>,
    ) -> Place {
        Place {
            session: on.inner().clone(),
            frame: hit.frame_id.inner().clone(),
            document: DocumentId(frame.map(|frame| frame.document.clone()).unwrap_or_default()),
            origin: frame.map(|frame| frame.origin.clone()).unwrap_or_default(),
            node: *hit.backend_node_id.inner(),
        }
    }

    /// A point of a frame of another process, in the page as it is seen, if the elements that hold the frames can
    /// be pressed there.
    async fn through_frames(
        &self,
        place: &Place,
        point: (f64, f64),
    ) -> Result<Result<(f64, f64), Cover>, ActError> {
        if place.session == *self.session().inner() {
            return Ok(Ok(point));
        }
        let frames = self.frames().await?;
        let mut at = point;
        let mut inner = session(place);
        while let Some((outer, owner)) = self.holder(&frames, &inner).await? {
            at = self.opening(&outer, owner).await?.outside(at);
            let holder = frames.iter().find(|frame| frame.session == outer).map(|frame| Place {
                session: outer.inner().clone(),
                frame: frame.id.inner().clone(),
                document: DocumentId(frame.document.clone()),
                origin: frame.origin.clone(),
                node: *owner.inner(),
            });
            if let Some(holder) = holder {
                let view = self.seen(&outer).await?;
                if let Hit::Another(cover) = self.hit_at(&holder, at, &view).await? {
                    return Ok(Err(cover));
                }
            }
            inner = outer;
        }
        Ok(Ok(at))
    }
}
