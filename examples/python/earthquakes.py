"""Finds sequences of earthquakes without a given eps: their aftershocks, and the moment that each sequence released.

    python earthquakes.py                                                  on generated ones
    python earthquakes.py query.csv longitude latitude mag time            on a catalogue of the USGS

Epicentres are clustered on the sphere, in km. Times are used afterwards: most of a sequence follows its main shock.
"""

from __future__ import annotations

import sys

import numpy as np

import epsflow

ON_THE_EARTH = {"metric": "greatcircle", "metric_params": {"unit": "km"}}
DEGREE = 111.19  # km
LEAST = 2.5  # magnitude


def generate(sequences: int = 6, others: int = 300) -> tuple[np.ndarray, ...]:
    """Returns lon, lat, magnitude and day: aftershocks along ruptures of large earthquakes, and scattered others."""
    random = np.random.default_rng(1)

    def magnitudes(count: int, most: float) -> np.ndarray:
        """Returns magnitudes: each magnitude less has ten times as many earthquakes (Gutenberg and Richter)."""
        return np.minimum(LEAST - np.log10(random.uniform(size=count)), most)

    background = random.uniform([-122, 32, 0], [-114, 38, 365], (others, 3))
    events = [np.stack([background[:, 0], background[:, 1], magnitudes(others, 5), background[:, 2]])]
    for i in range(sequences):
        main = random.uniform(6, 7.2)
        count = int(150 * 10 ** (0.6 * (main - 6)))
        length = 10 ** (0.59 * main - 2.44)  # km (Wells and Coppersmith, 1994)
        strike = random.uniform(0, np.pi)
        along, off = length * random.uniform(-0.5, 0.5, count), random.normal(0, 0.08 * length, count)
        along[0] = off[0] = 0  # the main shock comes first, 1.2 magnitudes above the others (Båth)
        lat = 33 + 2 * (i % 3) + random.uniform(-0.3, 0.3) + (along * np.cos(strike) - off * np.sin(strike)) / DEGREE
        east = (along * np.sin(strike) + off * np.cos(strike)) / DEGREE / np.cos(np.radians(lat))
        # The rate falls as 1/t (Omori).
        day = random.uniform(0, 200) + np.append(0, np.sort(0.01 * (1e4 ** random.uniform(size=count - 1) - 1)))
        size = np.append(main, magnitudes(count - 1, main - 1.2))
        events.append(np.stack([-120.5 + 4.5 * (i // 3) + random.uniform(-0.3, 0.3) + east, lat, size, day]))
    return tuple(np.concatenate(events, axis=1))


def read(file: str, columns: list[str]) -> tuple[np.ndarray, ...]:
    lon, lat, size = np.asarray(epsflow.read_points(file, columns[:3]), dtype=np.float64).T
    texts = np.asarray(epsflow.read_points(file, columns[3:])).ravel().astype(str)
    time = np.array([text.rstrip("Z") for text in texts], dtype="datetime64[s]")  # numpy does not accept time zones
    return lon, lat, size, (time - time.min()) / np.timedelta64(1, "D")


def main() -> None:
    if len(sys.argv) not in (1, 6):
        sys.exit("usage: earthquakes.py [FILE LONGITUDE LATITUDE MAGNITUDE TIME]")
    lon, lat, magnitude, day = read(sys.argv[1], sys.argv[2:]) if sys.argv[1:] else generate()
    X = np.stack([lon, lat], axis=1)

    explored = epsflow.explore(X, **ON_THE_EARTH)
    print(f"{len(X)} earthquakes")
    for offer in [explored.recommended, *explored.alternatives]:
        if offer is not None:
            answer = f"{offer.n_clusters} clusters, confidence {offer.confidence:.2f}"
            print(f"eps {offer.eps:.3g} km, min_samples {offer.min_samples}: {answer}")
    for flag in explored.flags:
        print(f"{flag.name}: {flag}")
    if explored.recommended is None:
        return

    # Moments differ by factors of a thousand, so centres weighted by moment lie at the main shocks.
    moment = 10 ** (1.5 * magnitude + 9.1)  # N m (Hanks and Kanamori, 1979)
    labels = explored.recommended.labels
    found = epsflow.catalog(X, labels, weights=moment, columns={"magnitude": magnitude}, **ON_THE_EARTH)
    print("\n  size  strongest  of all    lon    lat  radius km  main shock  in 30 days")
    for i in np.argsort(-np.asarray(found["weight_total"]), kind="stable")[:10]:
        members = np.flatnonzero(labels == found["cluster"][i])
        main_shock = day[members[np.argmax(magnitude[members])]]
        soon = np.mean((day[members] >= main_shock) & (day[members] <= main_shock + 30))
        of_all = (np.log10(found["weight_total"][i]) - 9.1) / 1.5
        print(
            f"{found['size'][i]:6} {found['magnitude_max'][i]:10.1f} {of_all:7.2f} {found['x_center'][i]:6.1f}"
            f" {found['y_center'][i]:6.1f} {found['radius'][i]:10.1f}     day {main_shock:3.0f} {soon:11.0%}"
        )


if __name__ == "__main__":
    main()
