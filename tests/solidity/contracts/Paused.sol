// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// OpenZeppelin's Pausable around unknown code.
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

interface Target {
    function poke() external;
}

contract Paused is Pausable {
    uint pokes;

    function pause() public {
        _pause();
    }

    function poke(Target target) public {
        require(!paused());
        uint before = pokes;
        _pause();
        target.poke();
        assert(pokes == before); // expect: safe
        _unpause();
        pokes = before + 1;
    }

    function quiet() public view {
        assert(!paused()); // expect: unsafe
    }
}
